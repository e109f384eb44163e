"""Drops blank lines at the start of a fill, so that it begins at the cursor."""

import re

from intarsia.infill.postprocess.context import CleaningContext

_BLANK_LINES = re.compile(r"(?:[ \t]*\n)+")


def drop_leading_blank_lines(fill: str, context: CleaningContext) -> str:
    """Drop blank lines at the start; one line end stays after a header on the cursor's line."""
    blank = _BLANK_LINES.match(fill)
    if blank is None or context.hole.kind == "line":
        return fill
    if not context.line_before.strip():
        return fill[blank.end() :]
    return "\n" + fill[blank.end() :] if context.hole.kind == "block" else fill
