"""Silence at a line where suggestions were dismissed three times.

It lasts until the line has become another one, or the document is closed.
"""

from dataclasses import dataclass, replace

from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.difference import replaced_range
from intarsia.infill.syntax.lines import line_at, line_start
from intarsia.infill.typing.change import TextChange, TextRange

MOST_DISMISSED = 3
MAX_LINES = 100
"""Those dismissed first are forgotten first."""

SMALL_CHANGE = 8
"""A line that differs by at most this many characters, or by less than half, is the same line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Line:
    start: int
    text: str  # when a suggestion was dismissed last
    num_dismissed: int


class Dismissals:
    """The lines of one document where suggestions were dismissed."""

    def __init__(self) -> None:
        self._lines: list[_Line] = []  # dismissed last: last

    def note(self, text: str, offset: int) -> None:
        """Take a dismissal at an offset."""
        known = self._at(text, offset)
        line = _Line(
            start=line_start(text, offset),
            text=line_at(text, offset),
            num_dismissed=1 if known is None else known.num_dismissed + 1,
        )
        others = [it for it in self._lines if it.start != line.start]
        self._lines = [*others[-MAX_LINES + 1 :], line]

    def move(self, change: TextChange, new: str) -> None:
        """Follow a change of the document."""
        if self._lines:
            self._lines = [
                replace(line, start=line_start(new, _moved(line.start, change)))
                for line in self._lines
            ]

    def silence(self, text: str, offset: int) -> NoSuggestion | None:
        """Return why nothing is suggested at an offset, None where something may be."""
        line = self._at(text, offset)
        if line is None or line.num_dismissed < MOST_DISMISSED:
            return None
        reason = f"suggestions in this line were dismissed {line.num_dismissed} times"
        return NoSuggestion(reason=reason, kind="dismissed")

    def _at(self, text: str, offset: int) -> _Line | None:
        start = line_start(text, offset)
        found = next((line for line in self._lines if line.start == start), None)
        return found if found and _is_same(found.text, line_at(text, offset)) else None


def _moved(start: int, change: TextChange) -> int:
    return TextRange(start=start, end=start).after(change).start


def _is_same(old: str, new: str) -> bool:
    start, old_end, new_end = replaced_range(old, new)
    num_changed = max(old_end, new_end) - start
    return num_changed <= max(SMALL_CHANGE, max(len(old.strip()), len(new.strip())) // 2)
