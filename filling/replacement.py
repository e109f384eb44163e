"""What an edit does to a text: stretches of it that are replaced."""

from collections.abc import Iterable
from dataclasses import dataclass


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


def with_replaced(text: str, replacements: Iterable[Replacement]) -> str:
    """Return the text with all of them made. They are of the text as it is, and do not overlap."""
    parts, at = [], 0
    for one in sorted(replacements, key=lambda it: (it.start, it.end)):
        parts += [text[at : one.start], one.new]
        at = one.end
    return "".join([*parts, text[at:]])
