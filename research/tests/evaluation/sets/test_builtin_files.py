"""What lies in the built-in set is what its manifest says, and its holes are good ones."""

import hashlib
import json
from collections import Counter, defaultdict
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import pytest

from intarsia.infill.languages import LANGUAGES, language_for_id, language_for_path
from intarsia_research.corpus.package_list import HELD_OUT_LIST, read_held_out
from intarsia_research.evaluation.sets import make_builtin
from intarsia_research.evaluation.sets.builtin import FOLDER, builtin_cases
from intarsia_research.holes.cut_holes import CUT_HOLE_KINDS, CutHole

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
    return {row["path"]: (FOLDER / row["path"]).read_bytes().decode() for row in manifest["files"]}


@pytest.fixture(scope="module")
def languages(manifest: dict[str, Any]) -> dict[str, str]:
    return {row["path"]: row["language"] for row in manifest["files"]}


def test_every_file_is_the_released_one(manifest: dict[str, Any]) -> None:
    for row in manifest["files"]:
        data = (FOLDER / row["path"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == row["sha256"], row["path"]


def test_the_manifest_names_every_file_in_the_folder(manifest: dict[str, Any]) -> None:
    ids = {language.id for language in LANGUAGES}
    found = {
        path.relative_to(FOLDER).as_posix()
        for path in FOLDER.rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and path.relative_to(FOLDER).parts[0] in ids
    }
    assert found == {row["path"] for row in manifest["files"]}


def test_a_file_lies_under_its_language(manifest: dict[str, Any]) -> None:
    for row in manifest["files"]:
        assert row["path"].split("/")[0] == row["language"]
        known = {row["language"], "cpp"} if row["language"] == "c" else {row["language"]}
        assert language_for_path(row["path"]).id in known, row["path"]


def test_every_file_parses_without_an_error(
    texts: dict[str, str], languages: dict[str, str]
) -> None:
    for path, text in texts.items():
        source = make_builtin.read_source(text, language_for_id(languages[path]))
        assert len(source.codes) == len(text), path


def test_every_licence_is_permissive_and_its_text_is_kept(manifest: dict[str, Any]) -> None:
    for row in manifest["files"]:
        assert row["licence"] in PERMISSIVE, row["path"]
        assert row["copyright"], row["path"]
        package = row["path"].split("/")[1]
        licence = (FOLDER / "LICENSES" / f"{package}.txt").read_text(encoding="utf-8")
        assert len(licence) > 300, package


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


def test_every_hole_can_be_known(
    manifest: dict[str, Any], texts: dict[str, str], languages: dict[str, str]
) -> None:
    sources = {
        path: make_builtin.read_source(text, language_for_id(languages[path]))
        for path, text in texts.items()
    }
    for row in manifest["holes"]:
        hole = CutHole(kind=row["kind"], start=row["start"], end=row["end"])
        assert make_builtin.can_be_known(sources[row["path"]], hole), row


def test_the_loader_gives_every_hole_once(manifest: dict[str, Any]) -> None:
    cases = builtin_cases(languages=None, kinds=None, limit=None, seed=1)
    assert len({case.id for case in cases}) == len(cases) == len(manifest["holes"])


TEXT = """\
import os


def path_of(name, folder):
    # where it lies
    full = os.path.join(folder, name)
    return full.strip() or "this is said nowhere else"


def seek(names):
    found = [path_of(name, "https://example.org") for name in names]
    key = "0123456789abcdef"
    print("done")
    return sorted(found, key=len)
"""


@pytest.mark.parametrize(
    ("truth", "can_be"),
    [
        ("os.path.join(folder, name)", True),
        ("sorted(found, key=len)", True),
        ('"done"', False),
        ('full.strip() or "this is said nowhere else"', False),
        ('path_of(name, "https://example.org")', False),
        ('key = "0123456789abcdef"', False),
        ("import os", False),
        ("# where it lies\n    full = os.path.join(folder, name)", False),
        ("full", False),  # stands in the line above
    ],
)
def test_a_hole_is_drawn_only_where_it_can_be_known(truth: str, can_be: bool) -> None:
    source = make_builtin.read_source(TEXT, language_for_id("python"))
    start = TEXT.rindex(truth)
    hole = CutHole(kind="expression", start=start, end=start + len(truth))
    assert make_builtin.can_be_known(source, hole) == can_be


def test_the_same_seed_draws_the_same_holes() -> None:
    source = make_builtin.read_source(TEXT, language_for_id("python"))
    drawn = [make_builtin.draw_holes(source, Counter(), Random(5)) for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert drawn[0]


def test_broken_code_is_refused() -> None:
    with pytest.raises(ValueError, match="not valid python"):
        make_builtin.read_source("def (:\n", language_for_id("python"))


def test_drawing_leaves_the_file_rows_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "python" / "own").mkdir(parents=True)
    (tmp_path / "python" / "own" / "seek.py").write_text(TEXT, encoding="utf-8")
    row = {"path": "python/own/seek.py", "language": "python", "package": "own", "any": "thing"}
    file = tmp_path / "manifest.json"
    file.write_text(json.dumps({"files": [row], "holes": []}), encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["make_builtin", "--folder", str(tmp_path), "--seed", "3"])
    make_builtin.main()
    written = json.loads(file.read_text(encoding="utf-8"))
    assert written["files"] == [row]
    assert {hole["path"] for hole in written["holes"]} == {row["path"]}
