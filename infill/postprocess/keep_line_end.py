"""Keeps a fill from running into the line after it."""

from intarsia.infill.postprocess.context import CleaningContext
from intarsia.infill.postprocess.parse_errors import errors_with
from intarsia.infill.syntax.lines import leading_blank


def keep_line_end(fill: str, context: CleaningContext) -> str:
    """End the fill with a line end where the hole held one, or stood before a whole line."""
    if context.hole.kind != "span":
        return fill
    body = fill.rstrip()
    removed = context.text[context.hole.start : context.hole.end]
    if removed.rstrip(" \t").endswith(("\n", "\r")):
        return body + "\n" + leading_blank(removed[::-1])[::-1]
    if removed or context.line_before.strip() or not context.rest.strip():
        return fill
    apart = body + "\n" + context.line_before
    likelier = (apart, fill) if "\n" in fill else (fill, apart)
    return min(likelier, key=lambda ended: errors_with(ended, context))
