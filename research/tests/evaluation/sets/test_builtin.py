"""The loader of the built-in set, on a small one, and what lies in the set itself."""

import hashlib
import json
import re
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from intarsia_research.corpus.package_list import HELD_OUT_LIST, read_held_out
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.sets.builtin import ARCHIVE, FOLDER, builtin_cases

FILES = {
    "python/shop/stock.py": "größe = 1\nwert = max(größe, 2)\n",
    "go/fmtx/print.go": "package fmtx\n\nfunc f() int {\n\treturn g(1, 2)\n}\n",
}
TRUTHS = [
    ("python/shop/stock.py", "line", "wert = max(größe, 2)"),
    ("python/shop/stock.py", "arguments", "größe, 2"),
    ("python/shop/stock.py", "line", "größe = 1"),
    ("go/fmtx/print.go", "line", "return g(1, 2)"),
    ("go/fmtx/print.go", "arguments", "1, 2"),
]


def file_row(path: str, data: bytes) -> dict[str, str]:
    language, package, _ = path.split("/")
    return {
        "path": path,
        "language": language,
        "package": package,
        "version": "1.0",
        "ecosystem": "pypi",
        "licence": "MIT",
        "url": "https://example.org/",
        "sha256": hashlib.sha256(data).hexdigest(),
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = []
    for path, text in FILES.items():
        rows.append(file_row(path, text.encode()))
    pack(tmp_path, FILES)
    holes = [
        {"path": path, "kind": kind, "start": start, "end": start + len(truth)}
        for path, kind, truth in TRUTHS
        if (start := FILES[path].index(truth)) >= 0
    ]
    write_manifest(tmp_path, rows, holes)
    return tmp_path


def pack(folder: Path, files: dict[str, str]) -> None:
    with zipfile.ZipFile(folder / ARCHIVE, "w") as packed:
        for path, text in files.items():
            packed.writestr(path, text)


def write_manifest(folder: Path, files: list, holes: list) -> None:
    (folder / "manifest.json").write_text(json.dumps({"files": files, "holes": holes}))


def cases(folder: Path, languages=None, kinds=None, limit=None, seed=7):
    return builtin_cases(languages=languages, kinds=kinds, limit=limit, seed=seed, folder=folder)


def test_all_holes_come_in_the_manifests_order(folder: Path):
    found = cases(folder)
    assert [(case.group, case.kind, case.truth) for case in found] == TRUTHS
    assert [case.id for case in found[:2]] == [
        "python/shop/stock.py:2:1:line",
        "python/shop/stock.py:2:12:arguments",
    ]
    for case in found:
        assert case.filled(case.truth) == FILES[case.group]
        assert (case.set, case.path) == ("builtin", Path(case.group).name)
        assert case.language == case.group.split("/")[0]
        assert case.root is not None and (case.root / case.path).read_text() == FILES[case.group]


def test_languages_and_kinds_may_be_named(folder: Path):
    assert [case.truth for case in cases(folder, languages=["golang"], kinds=["line"])] == [
        "return g(1, 2)"
    ]


def test_a_sample_is_seeded_and_spread_evenly(folder: Path):
    assert cases(folder, limit=3) == cases(folder, limit=4)[:3]
    four = cases(folder, limit=4)
    assert Counter((case.language, case.kind) for case in four) == dict.fromkeys(
        [(language, kind) for language in ("python", "go") for kind in ("line", "arguments")], 1
    )
    assert sorted(cases(folder, limit=99), key=str) == sorted(cases(folder), key=str)
    assert len({tuple(case.id for case in cases(folder, limit=4, seed=n)) for n in range(9)}) > 1


def test_a_file_that_was_changed_is_refused(folder: Path):
    pack(folder, FILES | {"go/fmtx/print.go": "package other\n"})
    with pytest.raises(EvaluationFault, match=r"print.go has another digest"):
        cases(folder, languages=["python"])


def test_a_missing_file_and_a_missing_set_are_told(folder: Path, tmp_path: Path):
    pack(folder, {"python/shop/stock.py": FILES["python/shop/stock.py"]})
    with pytest.raises(EvaluationFault, match=r"files cannot be read .*print.go"):
        cases(folder)
    (folder / ARCHIVE).write_bytes(b"no archive")
    with pytest.raises(EvaluationFault, match="files cannot be read"):
        cases(folder)
    with pytest.raises(EvaluationFault, match="manifest cannot be read"):
        cases(tmp_path / "none")


@pytest.mark.parametrize(
    "hole",
    [
        {"path": "go/fmtx/print.go", "kind": "line", "start": 3, "end": 999},
        {"path": "go/fmtx/print.go", "kind": "line", "start": 3, "end": 3},
        {"path": "go/fmtx/none.go", "kind": "line", "start": 0, "end": 1},
        {"path": "go/fmtx/print.go", "kind": "chapter", "start": 0, "end": 1},
        {"path": "go/fmtx/print.go"},
    ],
)
def test_a_hole_that_cannot_be_is_told(folder: Path, hole: dict):
    path = "go/fmtx/print.go"
    write_manifest(folder, [file_row(path, FILES[path].encode())], [hole])
    with pytest.raises(EvaluationFault, match="built-in set is damaged") as caught:
        cases(folder)
    assert "\n" not in str(caught.value)


def test_nothing_that_is_asked_for_is_told(folder: Path):
    with pytest.raises(EvaluationFault, match="no such hole"):
        cases(folder, languages=["rust"])


PERMISSIVE = {
    *("MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC", "0BSD", "Zlib", "Unlicense"),
    "MIT OR Apache-2.0",
}


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))
    return read


def test_every_licence_is_permissive_and_its_text_is_kept(manifest: dict[str, Any]) -> None:
    kept = (FOLDER / "LICENSES.txt").read_text(encoding="utf-8")
    texts = dict(zip(*[iter(re.split(r"^==== (.*) ====$", kept, flags=re.M)[1:])] * 2, strict=True))
    for row in manifest["files"]:
        assert row["licence"] in PERMISSIVE, row["path"]
        assert row["copyright"], row["path"]
        package = row["path"].split("/")[1]
        assert len(texts[package]) > 300, package


def test_no_training_corpus_may_hold_any_of_the_packages(manifest: dict[str, Any]) -> None:
    held_out = read_held_out(HELD_OUT_LIST)
    for row in manifest["files"]:
        names = {name for ecosystem, name in held_out if ecosystem == row["ecosystem"]}
        assert row["package"].lower().replace("_", "-") in names, row["package"]
