"""The files that imports mean, in small workspaces."""

import posixpath
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intarsia.infill.languages import all_languages, language_for_path
from intarsia.workspace.modules.files import Files
from intarsia.workspace.modules.resolve import resolve_import
from intarsia.workspace.symbols.extract import extract_symbols
from intarsia.workspace.symbols.symbols import Import

DRAWN = tomllib.loads(Path(__file__).with_name("resolve.toml").read_text(encoding="utf-8"))

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


@pytest.mark.parametrize(("code", "path", "expected"), DRAWN["rust"]["cases"])
def test_rust(code: str, path: str, expected: list[str]) -> None:
    manifest = '[package]\nname = "mine"\n[dependencies]\nother-crate = { path = "other" }\n'
    check(code, path, *expected, others={"Cargo.toml": manifest})


@pytest.mark.parametrize(("code", "path", "expected"), DRAWN["any"]["cases"])
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
