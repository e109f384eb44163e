"""The edit that turned one version of a text into the next: a few neighbouring lines, or none.

An edit is told in whole lines with LF line ends, whatever the text has. Larger changes, changes of
white space alone and changes in several places are no edit that other lines could follow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.text import BYTE_ORDER_MARK, with_plain_newlines


@dataclass(frozen=True, kw_only=True, slots=True)
class LineRange:
    """Lines of a text from ``start`` to ``end``, which is exclusive. An insertion has none."""

    start: int
    end: int

    def touches(self, other: "LineRange") -> bool:
        """Whether both have a line in common; an insertion has the line that it is made before."""
        return self.start < max(other.end, other.start + 1) and other.start < max(
            self.end, self.start + 1
        )


MAX_LINES = 6
"""The most lines of an edit, before it and after it."""

MAX_EDIT_CHARS = 2_000
"""The most characters of an edit, before and after it: the model reads it again as an example."""

MAX_TEXT_CHARS = 1_000_000

_MAX_COMPARED_LINES = 1_000
"""A longer range between the first and the last changed line counts as one change."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hunk:
    """``old_lines`` from line ``start`` on became ``new_lines``. Lines have their LF, if any.

    ``start`` is a line of the text before, from 0; ``new_start`` is the same line after.
    """

    start: int
    new_start: int
    old_lines: tuple[str, ...]
    new_lines: tuple[str, ...]

    @property
    def end(self) -> int:
        """The line of the text before that follows the change."""
        return self.start + len(self.old_lines)

    @property
    def new_end(self) -> int:
        """The line of the text after that follows the change."""
        return self.new_start + len(self.new_lines)

    @property
    def new_range(self) -> LineRange:
        """The changed lines of the text after."""
        return LineRange(start=self.new_start, end=self.new_end)


def settled_edit(before: str, after: str) -> Hunk | NoSuggestion:
    """Return the one edit between two versions of a text, or why it is none."""
    if max(len(before), len(after)) > MAX_TEXT_CHARS:
        return NoSuggestion(reason=f"the text is longer than {MAX_TEXT_CHARS:,} characters")
    old, new = _ended(plain_lines(before)), _ended(plain_lines(after))
    start, old_end, new_end = _changed_range(old, new)
    if start == old_end == new_end:
        return NoSuggestion(reason="nothing has changed")
    edit = _hunk(old, new, (start, old_end), (start, new_end))
    if _without_blanks(edit.old_lines) == _without_blanks(edit.new_lines):
        return NoSuggestion(reason="only white space has changed")
    if max(len(edit.old_lines), len(edit.new_lines)) > MAX_LINES:
        if len(hunks_between(old, new)) > 1:
            return NoSuggestion(reason="several places have changed")
        return NoSuggestion(reason=f"more than {MAX_LINES} lines have changed")
    if sum(map(len, edit.old_lines + edit.new_lines)) > MAX_EDIT_CHARS:
        return NoSuggestion(reason="the changed lines are too long")
    return edit


def hunks_between(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """Return what has changed between two lists of lines, in order."""
    start, old_end, new_end = _changed_range(old, new)
    if start == old_end == new_end:
        return []
    if max(old_end, new_end) - start > _MAX_COMPARED_LINES:
        return [_hunk(old, new, (start, old_end), (start, new_end))]
    matcher = SequenceMatcher(None, old[start:old_end], new[start:new_end], autojunk=False)
    return [
        _hunk(old, new, (start + first, start + last), (start + new_first, start + new_last))
        for tag, first, last, new_first, new_last in matcher.get_opcodes()
        if tag != "equal"
    ]


def plain_lines(text: str) -> list[str]:
    """Return the lines with LF line ends and without a byte order mark; the last may have no LF."""
    *lines, last = with_plain_newlines(text).removeprefix(BYTE_ORDER_MARK).split("\n")
    return [line + "\n" for line in lines] + ([last] if last else [])


def _ended(lines: list[str]) -> list[str]:
    """Return the lines each with an LF: a missing one at the end of a text is no difference."""
    return [*lines[:-1], lines[-1].removesuffix("\n") + "\n"] if lines else lines


def _changed_range(old: Sequence[str], new: Sequence[str]) -> tuple[int, int, int]:
    """Return the first changed line, and the ends of the change in ``old`` and in ``new``."""
    start, most = 0, min(len(old), len(new))
    while start < most and old[start] == new[start]:
        start += 1
    tail = 0
    while tail < most - start and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return start, len(old) - tail, len(new) - tail


def _hunk(
    old: Sequence[str], new: Sequence[str], at: tuple[int, int], new_at: tuple[int, int]
) -> Hunk:
    return Hunk(
        start=at[0],
        new_start=new_at[0],
        old_lines=tuple(old[slice(*at)]),
        new_lines=tuple(new[slice(*new_at)]),
    )


def _without_blanks(lines: Sequence[str]) -> str:
    return "".join("".join(lines).split())
