"""The file format of edit cases: what is written is read, and damage is one clear line."""

import gzip
import json
from pathlib import Path

import msgspec
import pytest
from edit_runs import edit_case, write_edit_set
from msgspec import structs

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.edits.edit_case import (
    CommitHunk,
    lines_of,
    read_edit_set,
    with_hunks,
)

BEFORE = "a = 1\nb = a\nc = a\n"
HUNKS = (
    CommitHunk(start=0, end=1, old_text="a = 1\n", new_text="z = 1\n"),
    CommitHunk(start=1, end=1, old_text="", new_text="y = 2\n"),
    CommitHunk(start=2, end=3, old_text="c = a\n", new_text=""),
)
CASE = edit_case(*HUNKS, kind="other", before=BEFORE)


def damaged(**fields: object) -> bytes:
    return json.dumps(msgspec.to_builtins(CASE) | fields).encode()


def test_what_is_written_is_read(tmp_path: Path) -> None:
    cases = [CASE, structs.replace(CASE, id="two", kind="control", hunks=HUNKS[:1])]
    write_edit_set(tmp_path / "set.jsonl.gz", cases)
    assert read_edit_set(tmp_path / "set.jsonl.gz") == cases


def test_hunks_are_put_in() -> None:
    assert with_hunks(BEFORE, HUNKS) == "z = 1\ny = 2\nb = a\n"
    assert with_hunks(BEFORE, HUNKS[:1]) == "z = 1\nb = a\nc = a\n"


@pytest.mark.parametrize("text", ["", "a", "a\n", "a\n\n", "\n", "a\x0cb\nc\u2028d\n"])
def test_lines_joined_are_the_text(text: str) -> None:
    assert "".join(lines_of(text)) == text
    assert len(lines_of(text)) == text.count("\n") + (not text.endswith("\n") and text != "")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (b"{", "line 2 of"),
        (damaged(id=7), "Expected `str`"),
        (damaged(kind="odd"), "Invalid enum value 'odd'"),
        (damaged(before="b = a\nb = a\nc = a\n"), "does not have the old lines of hunk 0"),
        (damaged(before=BEFORE[:-1]), "whole lines"),
        (damaged(before=BEFORE.replace("\n", "\r\n")), "whole lines"),
        (damaged(hunks=[]), "it has 0 hunks"),
        (damaged(kind="control"), "it has 3 hunks"),
        (damaged(before="a = 1\n"), "hunk 2 is outside of the text"),
        (damaged(hunks=msgspec.to_builtins(HUNKS[::-1])), "overlaps the hunk above it"),
        (damaged(), "two cases 'one'"),
    ],
)
def test_a_damaged_row_is_one_line(tmp_path: Path, row: bytes, words: str) -> None:
    file = tmp_path / "set.jsonl.gz"
    with gzip.open(file, "wb") as rows:
        rows.write(damaged() + b"\n" + row + b"\n")
    with pytest.raises(EvaluationFault, match=words) as raised:
        read_edit_set(file)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("data", [b"", b"text", gzip.compress(damaged())[:-30]])
def test_a_damaged_file_is_one_line(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "set.jsonl.gz"
    file.write_bytes(data)
    with pytest.raises(EvaluationFault):
        read_edit_set(file)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(EvaluationFault, match="is no set of edits"):
        read_edit_set(tmp_path / "none")
