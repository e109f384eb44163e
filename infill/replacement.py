"""Replacements of parts of a text, and how they move the text after them."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, kw_only=True, slots=True)
class Replacement:
    """``text[start:end]`` becomes ``new``."""

    start: int
    end: int
    new: str

    @property
    def growth(self) -> int:
        """How far all text after it moves, in characters."""
        return len(self.new) - (self.end - self.start)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangedFile:
    """A replacement in the text of a file, or of the open document that it is."""

    path: str
    text: str
    replacements: tuple[Replacement, ...]


class Moves:
    """How far replacements of one text move the text after them."""

    def __init__(self, replacements: Iterable[Replacement]) -> None:
        ordered = sorted(replacements, key=lambda replacement: replacement.end)
        self._ends = [replacement.end for replacement in ordered]
        growths = (replacement.growth for replacement in ordered)
        self._growths = list(accumulate(growths, initial=0))

    def at(self, offset: int) -> int:
        """Return how far an offset outside all replacements moves."""
        return self._growths[bisect_right(self._ends, offset)]


def inserted_ranges(replacements: Sequence[Replacement]) -> list[tuple[int, int]]:
    """Return where the new texts are once all replacements are made, in their order."""
    moves = Moves(replacements)
    starts = [it.start + moves.at(it.end) - it.growth for it in replacements]
    return [(at, at + len(it.new)) for at, it in zip(starts, replacements, strict=True)]


def with_replaced(text: str, replacements: Iterable[Replacement]) -> str:
    """Return the text with all replacements made; they must not overlap."""
    parts, end = [], 0
    for replacement in sorted(replacements, key=lambda each: (each.start, each.end)):
        parts += [text[end : replacement.start], replacement.new]
        end = replacement.end
    return "".join([*parts, text[end:]])
