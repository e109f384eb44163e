"""Reads a request for next edits as lines of text: which lines an edit has left as they were.

Offsets are in bytes of UTF-8, in the text after the edit and in the text before it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.engine.families.next_edit.code_lines import lines_of
from intarsia.engine.ipc.messages import FindNextEdits, TextPart


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowLine:
    """A line that did not change: its number in the window after the edit, and its offsets."""

    number: int
    start: int
    end: int
    start_before: int  # in the window before the edit
    may_change: bool

    @property
    def end_before(self) -> int:
        """Where the line ends in the window before the edit."""
        return self.start_before + self.end - self.start

    def is_followed_by(self, other: "WindowLine") -> bool:
        """Whether the other line is the next one, before the edit and after it."""
        return self.end == other.start and self.end_before == other.start_before


@dataclass(frozen=True, kw_only=True, slots=True)
class EditedLines:
    """The window before and after an edit, and where it begins in both.

    ``lines`` are those on the requested side of the edit that did not change, in order.
    """

    before: bytes
    after: bytes
    lines: Sequence[WindowLine]
    edit_start: int  # the window's end if nothing changed


def read_lines(request: FindNextEdits) -> EditedLines:
    """Return the lines of a request. Raises ValueError if a part but the last ends in a line."""
    parts = request.parts
    _require_whole_lines(parts)
    changed = (i for i, part in enumerate(parts) if part.before != part.after)
    edit = next(changed, len(parts))
    if request.direction == "above":
        lines = _unchanged_lines(parts[:edit], first_part=0)
    else:
        lines = _unchanged_lines(parts, first_part=edit if edit < len(parts) else 0)
    return EditedLines(
        before=as_bytes("".join(part.before for part in parts)),
        after=as_bytes("".join(part.after for part in parts)),
        lines=lines,
        edit_start=len(as_bytes("".join(part.after for part in parts[:edit]))),
    )


def as_bytes(text: str) -> bytes:
    """Return a text as UTF-8. What has no form in it, half a surrogate pair, becomes "?"."""
    return text.encode("utf-8", "replace")


def _unchanged_lines(parts: Sequence[TextPart], *, first_part: int) -> Sequence[WindowLine]:
    """Return the lines of the parts that did not change, from part ``first_part`` on."""
    found: list[WindowLine] = []
    number, start, start_before = 0, 0, 0
    for i, part in enumerate(parts):
        for line in lines_of(part.after):
            length = len(as_bytes(line))
            if part.before == part.after and i >= first_part:
                found.append(
                    WindowLine(
                        number=number,
                        start=start,
                        end=start + length,
                        start_before=start_before,
                        may_change=part.may_change,
                    )
                )
                start_before += length
            number, start = number + 1, start + length
        if part.before != part.after or i < first_part:
            start_before += len(as_bytes(part.before))
    return found


def _require_whole_lines(parts: Sequence[TextPart]) -> None:
    for part in parts[:-1]:
        if any(text and not text.endswith("\n") for text in (part.before, part.after)):
            raise ValueError("each of `parts` must end at a line end, the last one excepted")
