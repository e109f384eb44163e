"""The list of packages, those that must not be read, and what each says of its licence."""

import tomllib
from pathlib import Path

import pytest

from intarsia_research.corpus.debian_copyright import licence_of_path, read_copyright
from intarsia_research.corpus.licence import (
    PERMITTED,
    licence_of_npm,
    licence_of_python,
    licence_of_text,
    permitted,
)
from intarsia_research.corpus.package_list import (
    DEFAULT_LIST,
    HELD_OUT_LIST,
    PackageRow,
    held_out_name,
    is_held_out,
    read_held_out,
    read_packages,
)
from intarsia_research.errors import CorpusFault


@pytest.mark.parametrize("name", PERMITTED)
def test_every_permitted_licence_is_known_by_its_own_name(name: str):
    assert permitted(name) == name
    assert permitted(name.lower()) == name


@pytest.mark.parametrize(
    ("words", "licence"),
    [
        ("MIT OR Apache-2.0", "Apache-2.0 OR MIT"),
        ("MIT/Apache-2.0", "Apache-2.0 OR MIT"),
        ("(MIT AND BSD-3-Clause)", "BSD-3-Clause AND MIT"),
        ("MIT OR GPL-3.0-only", "MIT"),
        ("GPL-2.0-or-later OR (MIT AND ISC)", "ISC AND MIT"),
        ("Apache-2.0 WITH LLVM-exception", "Apache-2.0"),
        ("MIT AND (ISC OR Zlib)", "(ISC OR Zlib) AND MIT"),
        ("Expat", "MIT"),
        ("Apache License 2.0", "Apache-2.0"),
    ],
)
def test_the_permissive_part_of_an_expression_is_taken(words: str, licence: str):
    assert permitted(words) == licence


@pytest.mark.parametrize(
    "words",
    [
        "",
        "GPL-3.0-only",
        "MIT AND GPL-2.0-only",
        "MPL-2.0",
        "LGPL-2.1 OR MPL-1.1",
        "Proprietary",
        "MIT OR",
        "(MIT",
        "MIT Apache-2.0",
        "UNLICENSED",
        "SEE LICENSE IN LICENSE.md",
        "CC-BY-4.0",
    ],
)
def test_what_is_not_known_or_not_permitted_is_refused(words: str):
    assert permitted(words) is None


def test_python_metadata_tells_by_its_expression_first():
    metadata = (
        "Name: x\nLicense-Expression: GPL-3.0-only\n"
        "Classifier: License :: OSI Approved :: MIT License\n\nText"
    )
    assert licence_of_python(metadata) == (None, "GPL-3.0-only")


def test_python_classifiers_must_all_be_permitted():
    both = (
        "Name: x\nClassifier: License :: OSI Approved :: MIT License\n"
        "Classifier: License :: OSI Approved :: GNU General Public License v3 (GPLv3)\n"
    )
    assert licence_of_python(both)[0] is None
    fine = "Name: x\nClassifier: License :: OSI Approved :: Apache Software License\n"
    assert licence_of_python(fine)[0] == "Apache-2.0"


def test_words_in_the_description_are_no_metadata():
    assert licence_of_python("Name: x\n\nLicense-Expression: MIT\n")[0] is None


def test_bsd_alone_is_told_by_the_licence_s_text():
    metadata = "Name: x\nClassifier: License :: OSI Approved :: BSD License\n"
    text = "Redistribution and use in source and binary forms ... Neither the name of ..."
    assert licence_of_python(metadata, text)[0] == "BSD-3-Clause"
    assert licence_of_python(metadata, text.partition("Neither")[0])[0] == "BSD-2-Clause"
    assert licence_of_python(metadata)[0] is None


def test_a_gpl_text_is_no_permitted_licence():
    text = "GNU GENERAL PUBLIC LICENSE ... permission is hereby granted, free of charge"
    assert licence_of_text(f"{text} ... the software is provided") is None


@pytest.mark.parametrize(
    ("package", "licence"),
    [
        ({"license": "MIT"}, "MIT"),
        ({"license": {"type": "ISC", "url": "x"}}, "ISC"),
        ({"licenses": [{"type": "MIT"}, {"type": "GPL-2.0"}]}, "MIT"),
        ({"license": "UNLICENSED"}, None),
        ({}, None),
        ([], None),
        (None, None),
    ],
)
def test_package_json_tells_in_three_ways(package: object, licence: str | None):
    assert licence_of_npm(package)[0] == licence


COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: thing

Files: *
Copyright: 2020 Somebody
License: Expat

Files: src/gnu/* src/x?.c
Copyright: 2020 Somebody Else
License: GPL-2+
 The text of it.

Files: src/gnu/free.c
Copyright: 2021 Third
License: BSD-3-clause and Expat

Files: debian/*
Copyright: 2022 Packager
License: GPL-3+, or Expat

License: Expat
 Permission is hereby granted ...
"""


@pytest.mark.parametrize(
    ("path", "licence"),
    [
        ("main.c", "MIT"),
        ("src/deep/er.c", "MIT"),
        ("src/gnu/a.c", None),
        ("src/gnu/deep/a.c", None),
        ("src/x1.c", None),
        ("src/x12.c", "MIT"),
        ("src/gnu/free.c", "BSD-3-Clause AND MIT"),
        ("debian/rules.sh", "MIT"),
    ],
)
def test_debian_tells_every_path_s_licence_by_the_last_pattern(path: str, licence: str | None):
    assert licence_of_path(read_copyright(COPYRIGHT), path)[0] == licence


def test_a_copyright_file_in_free_words_tells_nothing():
    paragraphs = read_copyright(
        "This package is under the MIT licence.\n\nFiles: *\nLicense: MIT\n"
    )
    assert paragraphs == []
    assert licence_of_path(paragraphs, "main.c")[0] is None


def listed(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "packages.txt"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_row_is_read_and_written_the_same(tmp_path: Path):
    text = "wheel one\nnpm @scope/two 1.2.3\ndebian three 1:2-3 abc\n"
    rows = read_packages(listed(tmp_path, f"# words\n\n{text}"))
    assert "".join(row.line() + "\n" for row in rows) == text
    assert [row.ecosystem for row in rows] == ["pypi", "npm", "debian"]


@pytest.mark.parametrize("line", ["wheel", "gem rake", "wheel a 1 2 3", "WHEEL a"])
def test_another_line_is_a_fault_that_names_it(tmp_path: Path, line: str):
    with pytest.raises(CorpusFault, match=r"line 2 of .*packages\.txt"):
        read_packages(listed(tmp_path, f"npm a\n{line}\n"))


def test_a_package_may_stand_once_whatever_its_archive(tmp_path: Path):
    with pytest.raises(CorpusFault, match="pypi Small_Thing twice"):
        read_packages(listed(tmp_path, "sdist Small_Thing\nwheel small-thing\n"))


def test_names_are_held_out_in_any_spelling_but_not_in_another_ecosystem(tmp_path: Path):
    held_out = read_held_out(listed(tmp_path, "pypi Zope.Interface\nnpm left\n"))
    assert is_held_out(PackageRow(source="sdist", name="zope_interface"), held_out)
    assert is_held_out(PackageRow(source="wheel", name="zope-interface"), held_out)
    assert not is_held_out(PackageRow(source="npm", name="zope-interface"), held_out)


@pytest.mark.parametrize("words", ["left", "gem:rake", "npm:", ":a"])
def test_what_names_no_package_cannot_be_held_out(words: str):
    with pytest.raises(CorpusFault, match="is not a package"):
        held_out_name(words)


def test_our_own_list_holds_nothing_that_is_held_out():
    rows = read_packages(DEFAULT_LIST)
    held_out = read_held_out(HELD_OUT_LIST)
    assert len(rows) > 200
    assert [row.line() for row in rows if is_held_out(row, held_out)] == []


def test_our_own_list_pins_every_package():
    assert [row.line() for row in read_packages(DEFAULT_LIST) if row.sha256 is None] == []


NEVER_READ = (
    *("pypi:flask", "pypi:rich", "pypi:typer", "npm:hono", "npm:execa", "npm:date-fns"),
    *("debian:golang-github-go-chi-chi", "debian:golang-go.uber-zap"),
    *("debian:golang-github-charmbracelet-bubbletea", "debian:rust-fd-find", "debian:rust-axum"),
    *("debian:commons-csv", "debian:libretrofit-java", "debian:google-auto-common-java"),
    *("pypi:click", "npm:got"),
)
"""Packages that edits, commits and whole repositories are measured on."""


@pytest.mark.parametrize("name", NEVER_READ)
def test_a_package_that_is_measured_on_is_held_out(name: str):
    assert held_out_name(name) in read_held_out(HELD_OUT_LIST)


def test_every_package_of_the_project_set_is_held_out():
    table = HELD_OUT_LIST.parents[1] / "evaluation/sets/project_packages.toml"
    packages = tomllib.loads(table.read_text(encoding="utf-8"))["package"]
    held_out = read_held_out(HELD_OUT_LIST)
    missing = [
        one["name"]
        for one in packages
        if held_out_name(f"{one['ecosystem']}:{one['name']}") not in held_out
    ]
    assert packages
    assert missing == []
