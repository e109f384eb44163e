"""The list of packages, and of those that must not be read."""

import tomllib
from pathlib import Path

import pytest

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


def test_a_list_that_is_not_there_is_a_fault(tmp_path: Path):
    with pytest.raises(CorpusFault, match="check the path"):
        read_packages(tmp_path / "none.txt")


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
