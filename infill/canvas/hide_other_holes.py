"""Hides the other holes of a text, and TODO notes, from the model while it fills one hole.

A model continues what it reads: shown placeholders and TODOs, it writes placeholders and TODOs. The
file itself is not changed.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from intarsia.infill.canvas.canvas import Canvas
from intarsia.infill.holes.hole import Hole
from intarsia.infill.holes.hole_rules import TODO
from intarsia.infill.syntax.lines import columns, line_end, line_start

_COMMENT_ABOVE = re.compile(r"(?:[ \t]*(?:#|//|/\*|\*).*\n)+[ \t]*\Z")
_NOTE_LINE = re.compile(r"\s*[@#/*\[]")
_HEADER_LINE = re.compile(r"\s*[^)\]}\s]")
_TODO = re.compile(rf"{TODO.pattern}(?:\([^)\n]*\))?:?[ \t]*")


def hide_other_holes(text: str, hole: Hole, others: Sequence[tuple[int, int]]) -> tuple[str, Hole]:
    """Return the text without the other holes, and the hole as it has moved in it.

    Holes before it are cut out. The text ends before the scope that holds the first hole after it.
    """
    next_hole = min((start for start, _ in others if start >= hole.end), default=None)
    until = len(text) if next_hole is None else _start_of_scope(text, hole.end, next_hole)
    kept, kept_until = [], 0
    for start, end in sorted(others):
        if kept_until <= start and end <= hole.given_start:
            kept.append(text[kept_until:start])
            kept_until = end
    before = "".join(kept) + text[kept_until : hole.given_start]
    shift = len(before) - hole.given_start
    moved = replace(
        hole, start=hole.start + shift, end=hole.end + shift, given_start=hole.given_start + shift
    )
    return before + text[hole.given_start : until], moved


def _start_of_scope(text: str, earliest: int, offset: int) -> int:
    """Return where the outermost scope around ``offset`` begins, at ``earliest`` or after it.

    Indentation tells the scope. It includes its header, and comments and decorators right above:
    a header without its body would be another placeholder.
    """
    start = line_start(text, offset)
    scope, scope_columns = start, columns(text[start : line_end(text, start)])
    belongs: re.Pattern[str] | None = _NOTE_LINE  # matches lines that belong to the line below
    while start > earliest:
        start = line_start(text, start - 1)
        line = text[start : line_end(text, start)]
        if start < earliest:
            break
        if line.strip() and columns(line) < scope_columns:
            scope, scope_columns, belongs = start, columns(line), _HEADER_LINE
        elif belongs and columns(line) == scope_columns and belongs.match(line):
            scope = start
        else:
            belongs = None
    return max(scope, earliest)


def hide_todo(canvas: Canvas) -> Canvas:
    """Return the canvas without the word TODO in a comment right above the hole."""
    comment = _COMMENT_ABOVE.search(canvas.prefix)
    if comment is None:
        return canvas
    without_todo = _TODO.sub("", comment.group())
    return replace(canvas, prefix=canvas.prefix[: comment.start()] + without_todo)
