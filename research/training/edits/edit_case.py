"""Reads multi-place edits from commits: JSON lines, one file of one commit each."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import msgspec

from intarsia.engine.errors import ModelError


class Hunk(msgspec.Struct, frozen=True, kw_only=True):
    """Lines ``start`` to ``end`` (exclusive, from 0) of the text before, and what replaces them.

    Equal numbers insert before ``start``. ``follows``: the first hunk tells of this one.
    """

    start: int
    end: int
    old_text: str
    new_text: str
    follows: bool


class EditCase(msgspec.Struct, frozen=True, kw_only=True):
    """One file of one commit. A control has one hunk: nothing else was to change."""

    id: str
    repo: str
    kind: str
    language: str
    before: str
    hunks: tuple[Hunk, ...]

    @property
    def is_control(self) -> bool:
        """Whether the commit changed one place only."""
        return self.kind == "control"


def read_cases(path: Path) -> Iterator[EditCase]:
    """Yield the cases of a gzipped file. Raises ModelError for a line that is none."""
    decoder = msgspec.json.Decoder(EditCase)
    try:
        with gzip.open(path) as lines:
            for line in lines:
                yield decoder.decode(line)
    except (OSError, EOFError, msgspec.DecodeError) as error:
        raise ModelError(f"{path} has no edits that can be read: {error}") from error
