"""Reads and writes sets of edit cases: gzipped files with one JSON object a line."""

import gzip
import zlib
from collections.abc import Iterable
from pathlib import Path

import msgspec

from intarsia_research.edits.edit_case import EditCase
from intarsia_research.errors import EvaluationFault

_COMPRESSION = 6


def read_edit_set(file: Path) -> list[EditCase]:
    """Return the cases of a set, in order.

    Raise EvaluationFault if it cannot be read, has a damaged row or two cases of one id, or is
    empty.
    """
    decoder = msgspec.json.Decoder(EditCase)
    cases: dict[str, EditCase] = {}
    try:
        with gzip.open(file, "rb") as rows:
            for number, row in enumerate(rows, start=1):
                try:
                    case = decoder.decode(row)
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    raise EvaluationFault(
                        f"line {number} of {file} is no edit case ({error}): take the file again "
                        "from where it comes from, or make one with `corpus edits`"
                    ) from error
                if case.id in cases:
                    raise EvaluationFault(f"{file} has two cases {case.id!r}: remove one")
                cases[case.id] = case
    except (OSError, EOFError, zlib.error) as error:
        raise EvaluationFault(
            f"{file} is no set of edits ({error}): give a .jsonl.gz file, such as `corpus "
            "edits` writes"
        ) from error
    if not cases:
        raise EvaluationFault(f"{file} has no case: give another set of edits")
    return [*cases.values()]


def write_edit_set(file: Path, cases: Iterable[EditCase]) -> None:
    """Write a set in one step. The same cases give the same bytes."""
    encoder = msgspec.json.Encoder()
    unfinished = file.with_name(f"{file.name}.unfinished")
    with (
        unfinished.open("wb") as raw,
        gzip.GzipFile("", "wb", _COMPRESSION, raw, mtime=0) as packed,
    ):
        for case in cases:
            packed.write(encoder.encode(case) + b"\n")
    unfinished.replace(file)
