"""The set of holes that use names of other files, made from tiny packages."""

import re
from pathlib import Path

import pytest
from project_archives import Archives
from small_packages import tar_bytes, zip_bytes

from intarsia_research.corpus.members import MAX_MEMBER_BYTES
from intarsia_research.errors import CorpusFault, EvaluationFault
from intarsia_research.evaluation.sets.project_packages import read_table, without_copies

USES = "\n\n".join(
    f"def step_{number}(value):\n    result = scale_{number}(value, {number})\n    return result"
    for number in range(8)
)
HELPERS = "\n\n".join(
    f"def scale_{number}(value, factor):\n    return value * factor" for number in range(8)
)
IMPORT = f"from .helpers import {', '.join(f'scale_{number}' for number in range(8))}\n\n\n"
PYTHON = {
    "small-1.0/src/small/__init__.py": "",
    "small-1.0/src/small/helpers.py": HELPERS,
    "small-1.0/src/small/steps.py": IMPORT + USES + "\n",
    "small-1.0/build/lib/small/steps.py": IMPORT + USES + "\n",
    "small-1.0/tests/test_steps.py": "from small.helpers import scale_1\n\n\nx = [scale_1(1, 2)]\n",
}
TYPESCRIPT = {
    "package/package.json": "{}",
    "package/dist/view.ts": "export const twice = (n: number) => 2 * n;\n",
    "package/src/twice.ts": "export function twice(n: number) {\n  return 2 * n;\n}\n",
    "package/src/view.ts": "import { twice } from './twice.js';\n\n"
    "export function area(side: number) {\n  const double = twice(side);\n  return double;\n}\n",
}


@pytest.fixture
def archives(tmp_path: Path) -> Archives:
    archives = Archives(tmp_path)
    archives.add("small", "python", tar_bytes(PYTHON))
    archives.add("@scope/view", "typescript", tar_bytes(TYPESCRIPT), folders='["src"]')
    return archives


def test_a_hole_begins_with_the_name_and_ends_with_the_line(archives: Archives) -> None:
    cases = archives.cases()
    assert {case.language for case in cases} == {"python", "typescript"}
    for case in cases:
        assert case.name and re.match(rf"{case.name}\b", case.truth)
        assert case.suffix.startswith("\n") and "\n" not in case.truth
        assert case.prefix.rpartition("\n")[2].strip(), "something precedes the name on its line"
        assert case.kind == "rest_of_line" and case.set == "project"
    (view,) = [case for case in cases if case.language == "typescript"]
    assert (view.name, view.truth, view.path) == ("twice", "twice(side);", "src/view.ts")


def test_a_case_has_the_folder_with_all_files_of_its_package(archives: Archives) -> None:
    for case in archives.cases():
        text = (case.root / case.path).read_text()
        assert case.filled(case.truth) == text
        assert not list(case.root.rglob("dist")) and not list(case.root.rglob("build"))
    assert {case.root.name for case in archives.cases() if case.root} == {"small", "view"}


def test_the_same_seed_gives_the_same_holes_wherever_they_are_kept(archives: Archives) -> None:
    ids = [case.id for case in archives.cases()]
    assert len(set(ids)) == len(ids)
    assert [case.id for case in archives.cases("elsewhere")] == ids
    assert [case.id for case in archives.cases(limit=3)] == ids[:3]
    assert [case.id for case in archives.cases(seed=8)] != ids


def test_a_file_has_few_holes_with_different_names(archives: Archives) -> None:
    of_steps = [case for case in archives.cases() if case.path.endswith("steps.py")]
    assert len(of_steps) == len({case.name for case in of_steps}) == 4


def test_most_names_are_in_the_window_nowhere_but_in_an_import(tmp_path: Path) -> None:
    archives = Archives(tmp_path)
    files = {f"p/uses_{n}.py": f"{IMPORT}x = scale_{n}(1, 2)\n" for n in range(8)}
    repeated = {
        f"p/again_{n}.py": f"{IMPORT}x = scale_{n}(1, 2)\ny = scale_{n}(3, 4)\n" for n in range(8)
    }
    often = f"{IMPORT}x = scale_1(1, 2)\n" + "y = scale_1(3, 4)\n" * 3
    texts = {"p/helpers.py": HELPERS, **files, **repeated, "p/often.py": often}
    archives.add("small", "python", tar_bytes(texts))
    paths = [case.path for case in archives.cases()]
    assert sum(path.startswith("uses") for path in paths) == 8
    assert sum(path.startswith("again") for path in paths) == 4
    assert not [path for path in paths if path.startswith("often")]


def test_tests_have_no_holes(archives: Archives) -> None:
    assert not [case for case in archives.cases() if "test" in case.path]


def test_an_unpacking_that_was_interrupted_is_done_again(archives: Archives) -> None:
    (first, *_) = archives.cases(languages=["python"])
    first.root.rename(first.root.with_name(first.root.name + ".unfinished"))
    (first.root.with_name(first.root.name + ".unfinished") / "left.py").write_text("x = 1\n")
    archives.cases()
    assert first.root.is_dir() and not (first.root / "left.py").exists()


def test_languages_and_kinds_are_chosen(archives: Archives) -> None:
    assert {case.language for case in archives.cases(languages=["py"])} == {"python"}
    assert archives.cases(kinds=["rest_of_line", "block"])
    with pytest.raises(EvaluationFault, match="no such hole"):
        archives.cases(kinds=["block"])
    with pytest.raises(EvaluationFault, match="no such hole"):
        archives.cases(languages=["rust"])


def test_without_a_network_the_package_and_the_address_are_told(archives: Archives) -> None:
    def read(url: str) -> bytes:
        raise CorpusFault(f"cannot fetch {url} (no route): run the command again")

    with pytest.raises(EvaluationFault, match=r"needs small 1 .*cannot fetch https://") as said:
        archives.cases(read=read)
    assert "\n" not in str(said.value)


def test_another_archive_than_that_of_the_table_is_refused(archives: Archives) -> None:
    other = tar_bytes({"a/x.py": "x = 1\n"})
    pages = dict(archives.pages)
    archives.pages |= {url: other for url in pages if url.endswith(".tgz")}
    with pytest.raises(EvaluationFault, match="not the archive of the index: its digest differs"):
        archives.cases()
    archives.pages, rows = pages, archives.rows
    archives.rows = [row.replace('sha256 = "', 'sha256 = "0') for row in rows]
    with pytest.raises(EvaluationFault, match="not the one in the list: its digest differs"):
        archives.cases()
    assert not list(archives.folder.rglob("x.py"))


@pytest.mark.parametrize("pack", [tar_bytes, zip_bytes])
def test_no_member_is_written_outside_its_folder(tmp_path, pack):
    archives = Archives(tmp_path)
    evil = {"../up.py": "x = 1\n", "/abs.py": "x = 1\n", "small-1.0/../../deep.py": "x = 1\n"}
    archives.add("small", "python", pack({**PYTHON, **evil}))
    (case, *_) = archives.cases()
    written = {path for path in tmp_path.rglob("*.py") if not path.is_relative_to(case.root)}
    assert written == set()
    assert not [path for path in case.root.rglob("*") if path.name in ("up.py", "deep.py")]


def test_what_is_too_large_or_no_text_is_left_out(tmp_path: Path) -> None:
    archives = Archives(tmp_path)
    large = b"x = 1\n" * (MAX_MEMBER_BYTES // 6 + 1)
    odd = {"small-1.0/large.py": large, "small-1.0/latin.py": b"x = '\xe9'\n"}
    archives.add("small", "python", tar_bytes({**PYTHON, **odd, "small-1.0/nul.py": b"x\0"}))
    (case, *_) = archives.cases()
    assert sorted(path.name for path in case.root.rglob("*.py")) == [
        *("__init__.py", "helpers.py", "steps.py", "test_steps.py")
    ]


def test_an_archive_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    archives = Archives(tmp_path)
    archives.add("small", "python", b"no archive at all")
    with pytest.raises(EvaluationFault, match="of the set `project` cannot be read"):
        archives.cases()


def test_a_copy_of_a_file_is_left_out_and_a_namesake_stays() -> None:
    text = "\n".join(f"line_{number} = {number}" for number in range(20))
    changed = text + "\nmore = 1"
    other = "\n".join(f"other_{number} = {number}" for number in range(20))
    texts = {
        "src/a.py": text,
        "build/lib/src/a.py": changed,
        "docs/a.py": other,
        "b.py": text,
        "x/__init__.py": "",
        "y/__init__.py": "",
    }
    assert set(without_copies(texts)) == set(texts) - {"build/lib/src/a.py"}


def test_a_table_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    table = tmp_path / "table.toml"
    table.write_text('[[package]]\nname = "x"\n')
    with pytest.raises(EvaluationFault, match="install intarsia again"):
        read_table(table)
