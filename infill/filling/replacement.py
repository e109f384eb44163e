"""What an edit does to a text: stretches of it that are replaced."""

from bisect import bisect_right
from collections.abc import Iterable
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
        """By how much all that stands behind it moves."""
        return len(self.new) - (self.end - self.start)


class Moves:
    """By how much replacements of one text move what stands behind them."""

    def __init__(self, replacements: Iterable[Replacement]) -> None:
        ordered = sorted(replacements, key=lambda it: it.end)
        self._ends = [one.end for one in ordered]
        self._growths = list(accumulate((one.growth for one in ordered), initial=0))

    def at(self, offset: int) -> int:
        """Return by how much an offset within none of them moves."""
        return self._growths[bisect_right(self._ends, offset)]


def with_replaced(text: str, replacements: Iterable[Replacement]) -> str:
    """Return the text with all of them made. They are of the text as it is, and do not overlap."""
    parts, at = [], 0
    for one in sorted(replacements, key=lambda it: (it.start, it.end)):
        parts += [text[at : one.start], one.new]
        at = one.end
    return "".join([*parts, text[at:]])
