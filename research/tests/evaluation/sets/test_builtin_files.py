"""What lies in the built-in set is what its manifest says, and its holes are good ones."""

import json
import re
import zipfile
from collections import Counter, defaultdict
from datetime import date
from typing import Any

import pytest

from intarsia.infill.languages import language_for_id, language_for_path
from intarsia.infill.syntax.parse import parse_afresh
from intarsia.training.cut_holes import CUT_HOLE_KINDS
from intarsia_research.corpus.package_list import HELD_OUT_LIST, read_held_out
from intarsia_research.evaluation.sets.builtin import ARCHIVE, FOLDER, builtin_cases

PERMISSIVE = {
    *("MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC", "0BSD", "Zlib", "Unlicense"),
    "MIT OR Apache-2.0",
}


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))
    return read


@pytest.fixture(scope="module")
def texts(manifest: dict[str, Any]) -> dict[str, str]:
    with zipfile.ZipFile(FOLDER / ARCHIVE) as packed:
        return {row["path"]: packed.read(row["path"]).decode() for row in manifest["files"]}


@pytest.fixture(scope="module")
def languages(manifest: dict[str, Any]) -> dict[str, str]:
    return {row["path"]: row["language"] for row in manifest["files"]}


def test_the_manifest_names_every_file_in_the_archive(manifest: dict[str, Any]) -> None:
    with zipfile.ZipFile(FOLDER / ARCHIVE) as packed:
        assert set(packed.namelist()) == {row["path"] for row in manifest["files"]}


def test_a_file_lies_under_its_language(manifest: dict[str, Any]) -> None:
    for row in manifest["files"]:
        assert row["path"].split("/")[0] == row["language"]
        known = {row["language"], "cpp"} if row["language"] == "c" else {row["language"]}
        assert language_for_path(row["path"]).id in known, row["path"]


def test_every_file_parses_without_an_error(
    texts: dict[str, str], languages: dict[str, str]
) -> None:
    for path, text in texts.items():
        syntax = parse_afresh(text, language_for_id(languages[path]))
        assert syntax is not None and not syntax.tree.root_node.has_error, path


def test_every_licence_is_permissive_and_its_text_is_kept(manifest: dict[str, Any]) -> None:
    kept = (FOLDER / "LICENSES.txt").read_text(encoding="utf-8")
    texts = dict(zip(*[iter(re.split(r"^==== (.*) ====$", kept, flags=re.M)[1:])] * 2, strict=True))
    for row in manifest["files"]:
        assert row["licence"] in PERMISSIVE, row["path"]
        assert row["copyright"], row["path"]
        package = row["path"].split("/")[1]
        assert len(texts[package]) > 300, package


def test_every_package_is_younger_than_the_backbone(manifest: dict[str, Any]) -> None:
    for row in manifest["files"]:
        assert date.fromisoformat(row["first_released"]) > date(2025, 6, 30), row["path"]
        assert row["first_released_from"], row["path"]


def test_no_training_corpus_may_hold_any_of_the_packages(manifest: dict[str, Any]) -> None:
    held_out = read_held_out(HELD_OUT_LIST)
    for row in manifest["files"]:
        names = {name for ecosystem, name in held_out if ecosystem == row["ecosystem"]}
        assert row["package"].lower().replace("_", "-") in names, row["package"]


def test_there_are_enough_holes_in_enough_languages(
    manifest: dict[str, Any], languages: dict[str, str]
) -> None:
    num_of = Counter(languages[hole["path"]] for hole in manifest["holes"])
    assert sum(num_of.values()) >= 320
    assert len(num_of) >= 8
    assert sum(num >= 40 for num in num_of.values()) >= 6
    assert len({row["package"] for row in manifest["files"]}) >= 30


def test_the_kinds_are_about_even(manifest: dict[str, Any]) -> None:
    num_of = Counter(hole["kind"] for hole in manifest["holes"])
    assert set(num_of) == set(CUT_HOLE_KINDS)
    assert min(num_of.values()) > 0.7 * max(num_of.values())


def test_no_hole_of_a_file_overlaps_another_or_says_the_same(
    manifest: dict[str, Any], texts: dict[str, str]
) -> None:
    holes_of = defaultdict(list)
    for hole in manifest["holes"]:
        holes_of[hole["path"]].append((hole["start"], hole["end"]))
    for path, holes in holes_of.items():
        edges = [edge for hole in sorted(holes) for edge in hole]
        assert edges == sorted(set(edges)), path
        assert edges[0] >= 0 and edges[-1] <= len(texts[path]), path
        truths = [texts[path][start:end].strip() for start, end in holes]
        assert len(set(truths)) == len(truths), path


def test_the_loader_gives_every_hole_once(manifest: dict[str, Any]) -> None:
    cases = builtin_cases(languages=None, kinds=None, limit=None, seed=1)
    assert len({case.id for case in cases}) == len(cases) == len(manifest["holes"])
