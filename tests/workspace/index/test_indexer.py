"""The parser may crash, hang or not start: one file is left out, and the index goes on."""

import sys
from pathlib import Path

import pytest

from intarsia.workspace.files.paths import RootSettings
from intarsia.workspace.index import parser_process
from intarsia.workspace.index.indexer import OwnIndex
from intarsia.workspace.index.parser_process import Parser

FAULTY = """
import os, sys
from intarsia.workspace.index import parser_process
parse = parser_process.extract_symbols
def parse_or_fail(text, language):
    if "crash_here" in text:
        os.abort()
    while "hang_here" in text:
        pass
    if "raise_here" in text:
        raise RecursionError
    if "garble_here" in text:
        os.write(OUT, b"\\xff" * 64)
    return parse(text, language)
dup = os.dup
def remembered(descriptor):
    global OUT
    OUT = dup(descriptor)
    return OUT
os.dup = remembered
parser_process.extract_symbols = parse_or_fail
parser_process.run_parse_worker()
"""


def opened(root: Path, databases: Path, *command: str) -> OwnIndex:
    return OwnIndex([RootSettings(path=str(root))], databases, lambda on: Parser(on, command))


def made(root: Path, faults: list[str]) -> None:
    root.mkdir(exist_ok=True)
    for number in range(12):
        (root / f"m{number:02}.py").write_text(f"def f_{number}(): pass\n")
    for number, fault in enumerate(faults):
        (root / f"m{number * 5:02}_bad.py").write_text(f"def {fault}(): pass\n")


@pytest.mark.parametrize("fault", ["crash_here", "hang_here", "raise_here", "garble_here"])
def test_a_file_that_fails_the_parser_is_left_out_until_it_changes(tmp_path, fault, monkeypatch):
    monkeypatch.setattr(parser_process, "MAX_CPU_S", 3.0)
    root = tmp_path / "workspace"
    made(root, [fault])
    with opened(root, tmp_path / "databases", sys.executable, "-P", "-c", FAULTY) as own:
        assert own.update(max_s=300)
        counts = own.index.counts()
        assert (counts.num_files, counts.num_left_out) == (12, 1)
        assert own.index.definitions_named(fault, limit=1) == []
        own.index.walk_again()
        assert own.update(max_s=300)  # it is not tried again
        assert own.index.counts().num_left_out == 1
        (root / "m00_bad.py").write_text("def mended(): pass\n")
        own.index.changed(str(root / "m00_bad.py"))
        assert own.update(max_s=300)
        assert len(own.index.definitions_named("mended", limit=2)) == 1


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        (
            (sys.executable, "-P", "-c", ""),
            "the parser keeps stopping: is the installation complete?",
        ),
        (("/missing/python",), "the parser cannot be started: "),
    ],
)
def test_a_parser_that_is_none_is_given_up_with_a_reason(tmp_path, command, fault):
    made(tmp_path / "workspace", [])
    with opened(tmp_path / "workspace", tmp_path / "databases", *command) as own:
        own.update(max_s=300)
        assert own.fault.startswith(fault)
        assert own.index.counts().num_files == 0


def test_after_a_parser_that_never_started_all_files_are_tried_again(tmp_path: Path):
    made(tmp_path / "workspace", [])
    for command in (
        ("/missing/python",),
        (sys.executable, "-P", "-m", "intarsia.workspace", "parse"),
    ):
        with opened(tmp_path / "workspace", tmp_path / "databases", *command) as own:
            own.update(max_s=300)
            num_files = own.index.counts().num_files
    assert num_files == 12


def test_a_parser_that_neither_answers_nor_runs_is_given_up(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(parser_process, "MAX_WAIT_S", 0.5)
    made(tmp_path / "workspace", [])
    command = (sys.executable, "-P", "-c", "import time; time.sleep(600)")
    with opened(tmp_path / "workspace", tmp_path / "databases", *command) as own:
        own.update(max_s=300)
        assert own.fault.startswith("the parser keeps stopping")


RETIRING = """
import sys
from intarsia.workspace.index import parser_process
open(sys.argv[1], "a").write("started ")
parser_process.MAX_BYTES, parser_process.MIN_ANSWERS = 0, 5
parser_process.run_parse_worker()
"""


def test_a_parser_that_has_grown_is_replaced_and_no_file_is_lost(tmp_path: Path):
    made(tmp_path / "workspace", [])
    log = tmp_path / "log"
    command = (sys.executable, "-P", "-c", RETIRING, str(log))
    with opened(tmp_path / "workspace", tmp_path / "databases", *command) as own:
        assert own.update(max_s=300)
        counts = own.index.counts()
        assert (counts.num_files, counts.num_left_out) == (12, 0)
    assert log.read_text().split() == ["started"] * 3
