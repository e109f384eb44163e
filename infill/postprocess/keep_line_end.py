"""Ends a fill with a line end where the next line would otherwise join its last one.

├a = 1┤b = 2   →   ├a = 1⏎┤b = 2
"""

from intarsia.infill.postprocess.context import CleaningContext
from intarsia.infill.postprocess.parse_errors import errors_with
from intarsia.infill.syntax.lines import leading_blank


def keep_line_end(fill: str, context: CleaningContext) -> str:
    """End the fill with a line end if the replaced text had one, or a whole line follows it."""
    if context.hole.kind != "span":
        return fill
    body = fill.rstrip()
    removed = context.text[context.hole.start : context.hole.end]
    if removed.rstrip(" \t").endswith(("\n", "\r")):
        return body + "\n" + leading_blank(removed[::-1])[::-1]
    if removed or context.line_before.strip() or not context.rest.strip():
        return fill
    on_own_line = body + "\n" + context.line_before
    candidates = (on_own_line, fill) if "\n" in fill else (fill, on_own_line)  # likelier first
    return min(candidates, key=lambda candidate: errors_with(candidate, context))
