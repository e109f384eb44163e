"""Counts the parse errors of the file as it would be with a fill, and says how many it may have."""

from functools import lru_cache

from intarsia.infill.nodes import num_errors
from intarsia.infill.postprocess.context import CleaningContext
from intarsia.infill.syntax import parse_edited

PLACEHOLDERS = ("x", "0")


def errors_allowed(context: CleaningContext) -> int:
    """Return how many errors the file has as it is: with a fill it may have no more.

    A line under way may have one that any word would mend: it is not held against the file. Macros
    are errors to a parser that knows none, so their languages get some leave.
    """
    if context.syntax is None:
        return 0
    errors = num_errors(context.syntax)
    if errors and context.hole.kind == "line":
        errors = min(errors, *(errors_with(word, context) for word in PLACEHOLDERS))
    return errors + 1 + errors // 4 if context.language.has_macros else errors


@lru_cache(maxsize=16)  # several filters ask for the same fill
def errors_with(fill: str, context: CleaningContext) -> int:
    """Count the errors of the file with the fill in its hole; none where it is not parsed."""
    if context.syntax is None:
        return 0
    hole = context.hole
    return num_errors(parse_edited(context.syntax, hole.start, hole.end, fill))
