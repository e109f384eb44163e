"""The files that imports mean, in small workspaces."""

import posixpath
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intarsia.infill.languages import all_languages, language_for_path
from intarsia.workspace.modules.files import Files
from intarsia.workspace.modules.resolve import resolve_import
from intarsia.workspace.symbols.extract import extract_symbols
from intarsia.workspace.symbols.symbols import Import

AT = "/w"


def check(code: str, path: str, *expected: str, others: Mapping[str, str] | None = None) -> None:
    """Expect the imports of ``code`` in ``path`` to mean these files, in order."""
    names = {path: code, **dict.fromkeys(expected, ""), **(others or {})}
    texts = {f"{AT}/{name}": text for name, text in names.items()}
    files = Files(
        roots=[AT],
        exists=texts.__contains__,
        files_in=lambda folder: [one for one in texts if posixpath.dirname(one) == folder],
        read=texts.get,
    )
    language = language_for_path(path)
    found = [
        one.removeprefix(AT + "/")
        for imported in extract_symbols(code, language).imports
        for one in resolve_import(imported, path=f"{AT}/{path}", language=language, files=files)
    ]
    assert found == list(expected)


@pytest.mark.parametrize(
    ("code", "path", "expected"),
    [
        ("from . import b", "p/a.py", ["p/b.py"]),
        ("from .b import c", "p/a.py", ["p/b.py"]),
        ("from ..q.b import c", "p/r/a.py", ["p/q/b.py"]),
        ("from ..q import b", "p/r/a.py", ["p/q/__init__.py", "p/q/b.py"]),
        ("import q.b as x", "p/a.py", ["q/b.py"]),
        ("from q import b", "tests/t.py", ["src/q/b.py"]),
        ("import q", "tests/t.py", ["src/q/__init__.py"]),
        ("from app.q.b import c", "p/a.py", ["q/b.py"]),
        ("from b import c", "scripts/a.py", ["scripts/b.py"]),
        ("import os, sys", "p/a.py", []),
        ('import x from "./b"', "src/a.ts", ["src/b.ts"]),
        ('import x from "./b.js"', "src/a.ts", ["src/b.ts"]),
        ('import x from "../b"', "src/p/a.tsx", ["src/b/index.tsx"]),
        ('const x = require("./b")', "src/a.js", ["src/b.cjs"]),
        ('export * from "."', "src/p/a.ts", ["src/p/index.ts"]),
        ('import x from "@/b"', "src/p/a.ts", ["src/b.ts"]),
        ('import x from "react"', "src/a.ts", []),
        ("use crate::a::b::C;", "src/main.rs", ["src/a/b.rs"]),
        ("use crate::a::{self, B};", "src/x.rs", ["src/a/mod.rs"]),
        ("use super::c::D;", "src/a/b.rs", ["src/a/c.rs"]),
        ("use super::*;", "src/a/b.rs", ["src/a.rs"]),
        ("mod parser;", "src/lib.rs", ["src/parser.rs"]),
        ("mod parser;", "src/a.rs", ["src/a/parser.rs"]),
        ("use crate::Thing;", "src/a.rs", ["src/lib.rs"]),
        ("use other_crate::x::Y;", "src/a.rs", ["other/src/x.rs"]),
        ("use std::fmt;", "src/a.rs", []),
    ],
)
def test_rust(code: str, path: str, expected: list[str]) -> None:
    manifest = '[package]\nname = "mine"\n[dependencies]\nother-crate = { path = "other" }\n'
    check(code, path, *expected, others={"Cargo.toml": manifest})


@pytest.mark.parametrize(
    ("code", "path", "expected"),
    [
        ("import com.x.y.Z;", "src/main/java/com/x/A.java", ["src/main/java/com/x/y/Z.java"]),
        ("import com.x.y.*;", "src/main/java/com/x/A.java", ["src/main/java/com/x/y/Z.java"]),
        ("import static com.x.Z.m;", "src/test/java/com/x/A.java", ["src/main/java/com/x/Z.java"]),
        ("import com.x.Z.Inner;", "src/com/x/A.java", ["src/com/x/Z.java"]),
        ("import java.util.List;", "src/com/x/A.java", []),
        ("import com.x.y.Z", "src/main/kotlin/com/x/A.kt", ["src/main/kotlin/com/x/y/Z.kt"]),
        ("import com.x.{Y, Z}", "src/main/scala/A.scala", ["src/main/scala/com/x/Y.scala"]),
        ('local j = require("a.b")', "lua/c.lua", ["lua/a/b.lua"]),
        ('local j = require("a")', "plugin/c.lua", ["lua/a/init.lua"]),
        ('const b = @import("p/b.zig");', "src/a.zig", ["src/p/b.zig"]),
        ('const std = @import("std");', "src/a.zig", []),
        ("import 'src/b.dart';", "lib/a.dart", ["lib/src/b.dart"]),
        ("import 'package:core/b.dart';", "packages/app/lib/a.dart", ["packages/core/lib/b.dart"]),
        ("alias MyApp.HTTPClient.Pool", "lib/a.ex", ["lib/my_app/http_client/pool.ex"]),
        ("alias MyApp.{A, B}", "lib/c.ex", ["lib/my_app/a.ex", "lib/my_app/b.ex"]),
        ("using App.Core.Net;", "App.Core/Web/A.cs", ["App.Core/Net/B.cs", "App.Core/Net/C.cs"]),
        ("using System;", "App/A.cs", []),
        ('#include "b.h"', "src/a.c", ["src/b.h"]),
        ("#include <lib/b.hpp>", "src/a.cpp", ["include/lib/b.hpp"]),
        ("require_relative 'b'", "lib/x/a.rb", ["lib/x/b.rb"]),
        ("require 'x/b'", "test/a.rb", ["lib/x/b.rb"]),
        ('. "$DIR/lib.sh"', "bin/a.sh", ["bin/lib.sh"]),
        ('@import "b";', "a.css", ["b.css"]),
    ],
)
def test_an_import_means_these_files(code: str, path: str, expected: list[str]) -> None:
    check(code, path, *expected)


def test_a_python_module_of_the_package_comes_after_one_of_the_search_path() -> None:
    check("import b", "p/a.py", "b.py", others={"p/__init__.py": "", "p/b.py": ""})


def test_an_import_never_leads_out_of_the_opened_folders() -> None:
    files = Files(
        roots=[AT], exists=lambda _: True, files_in=lambda _: ["/x.go"], read=lambda _: ""
    )
    for code, path in (
        ('import "../../x"', "a.ts"),
        ("from .....x import y", "p/a.py"),
        ('#include "../../etc/passwd"', "a.c"),
    ):
        language = language_for_path(path)
        (imported,) = extract_symbols(code, language).imports
        assert resolve_import(imported, path=f"{AT}/{path}", language=language, files=files) == ()


def test_typescript_paths_are_read_from_configurations_with_comments() -> None:
    base = '{"compilerOptions": {"baseUrl": "src", /* c */ "paths": {"#lib/*": ["libs/*"],},}}'
    check(
        'import a from "#lib/b"; import c from "d"',
        "app/x.ts",
        "src/libs/b.ts",
        "src/d.ts",
        others={"tsconfig.base.json": base, "app/tsconfig.json": '{"extends":"../tsconfig.base"}'},
    )


def test_packages_of_the_workspace_are_found_by_their_name() -> None:
    check(
        'import a from "@acme/core"; import b from "@acme/core/deep"; import c from "@acme/no"',
        "packages/app/x.ts",
        "packages/core/src/main.ts",
        "packages/core/src/deep.ts",
        others={
            "package.json": '{"workspaces": ["packages/*"]}',
            "packages/core/package.json": '{"name": "@acme/core", "main": "./dist/main.js"}',
        },
    )


def test_go_packages_are_folders_below_the_module() -> None:
    check(
        'package a\nimport ("fmt"; "example.com/m/x/y"; "example.com/other/z")',
        "cmd/a.go",
        "x/y/one.go",
        "x/y/two.go",
        "vendored/z/z.go",
        others={
            "go.mod": "module example.com/m\n\nreplace example.com/other => ./vendored\n",
            "x/y/one_test.go": "",
        },
    )


def test_php_classes_are_found_by_the_rules_of_composer() -> None:
    check(
        "<?php use Acme\\Http\\{Client, Server as S}; use Other\\X; require __DIR__ . '/h.php';",
        "code/Web/a.php",
        "code/Http/Client.php",
        "code/Http/Server.php",
        "code/Web/h.php",
        others={"composer.json": '{"autoload": {"psr-4": {"Acme\\\\": "code/"}}}'},
    )


NAMES = st.text(alphabet='ab./\\:@*~$"{}', max_size=12)


@settings(max_examples=500)
@given(
    language=st.sampled_from(all_languages()),
    module=NAMES,
    folder=NAMES,
    config=st.sampled_from(["", "{", "[]", '{"compilerOptions": 3, "name": [], "workspaces": 1}'])
    | st.text(),
)
def test_no_import_and_no_configuration_raises(language, module, folder, config):
    files = Files(
        roots=[AT], exists=lambda path: "a" in path, files_in=lambda _: [f"{AT}/a"],
        read=lambda _: config,
    )  # fmt: skip
    found = resolve_import(
        Import(module=module, line=0), path=f"{AT}/{folder}/x", language=language, files=files
    )
    assert all(one.startswith(f"{AT}/") for one in found)
