"""What a model gets to see of a text in which more than one place is still unwritten.

A model goes on with what it reads: shown placeholders and notes that something is to be done, it
writes placeholders and notes. Comes in: a text, its hole, the other places; goes out: the same
with those left out. Nothing of this goes into the file.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from intarsia.infill.canvas.canvas import Canvas
from intarsia.infill.holes.hole import Hole
from intarsia.infill.holes.hole_rules import LATER
from intarsia.infill.syntax.lines import columns, line_end, line_start

_COMMENT_ABOVE = re.compile(r"(?:[ \t]*(?:#|//|/\*|\*).*\n)+[ \t]*\Z")
_NOTE_LINE = re.compile(r"\s*[@#/*\[]")
_HEADER_LINE = re.compile(r"\s*[^)\]}\s]")
_NOTE = re.compile(rf"{LATER.pattern}(?:\([^)\n]*\))?:?[ \t]*")


def hide_other_holes(text: str, hole: Hole, others: Sequence[tuple[int, int]]) -> tuple[str, Hole]:
    """Return the text up to what holds the first place behind the hole, without those before it."""
    first_behind = min((start for start, _ in others if start >= hole.end), default=None)
    until = len(text) if first_behind is None else _start_of_scope(text, hole.end, first_behind)
    before, at = [], 0
    for start, end in sorted(others):
        if at <= start and end <= hole.given_start:
            before.append(text[at:start])
            at = end
    kept = "".join(before) + text[at : hole.given_start]
    by = len(kept) - hole.given_start
    moved = replace(
        hole, start=hole.start + by, end=hole.end + by, given_start=hole.given_start + by
    )
    return kept + text[hole.given_start : until], moved


def _start_of_scope(text: str, least: int, place: int) -> int:
    """Return where the outermost scope round a place begins that begins behind ``least``.

    Told by indentation, with what stands right above its header at the same column: a header
    without its body is as good as a placeholder.
    """
    start = line_start(text, place)
    found, found_columns = start, columns(text[start : line_end(text, start)])
    joining: re.Pattern[str] | None = _NOTE_LINE  # what belongs to the line below it
    while start > least:
        start = line_start(text, start - 1)
        line = text[start : line_end(text, start)]
        if start < least:
            break
        if line.strip() and columns(line) < found_columns:
            found, found_columns, joining = start, columns(line), _HEADER_LINE
        elif joining and columns(line) == found_columns and joining.match(line):
            found = start
        else:
            joining = None
    return max(found, least)


def hide_todo(canvas: Canvas) -> Canvas:
    """Return the canvas in which a comment right above the hole says what, but not "TODO"."""
    comment = _COMMENT_ABOVE.search(canvas.prefix)
    if comment is None:
        return canvas
    words = _NOTE.sub("", comment.group())
    return replace(canvas, prefix=canvas.prefix[: comment.start()] + words)
