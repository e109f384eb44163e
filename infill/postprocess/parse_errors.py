"""Counts the parse errors of the file with a fill, and says whether they are too many."""

from functools import lru_cache

from intarsia.infill.postprocess.context import CleaningContext
from intarsia.infill.syntax.nodes import MAX_ERRORS, num_errors
from intarsia.infill.syntax.parse import parse_edited

PLACEHOLDERS = ("x", "0")


def is_no_worse(fill: str, context: CleaningContext) -> bool:
    """Whether the file with the fill has no more errors than it may have."""
    errors = errors_with(fill, context)
    return errors == 0 or errors <= _errors_allowed(context)


@lru_cache(maxsize=16)  # several filters ask for the same fill
def errors_with(fill: str, context: CleaningContext) -> int:
    """Count the errors of the file with the fill in its hole; none where no file is parsed."""
    if context.syntax is None:
        return 0
    hole = context.hole
    syntax = parse_edited(context.syntax, hole.start, hole.end, fill)
    return MAX_ERRORS if syntax is None else num_errors(syntax)


def _errors_allowed(context: CleaningContext) -> int:
    """Return how many errors the file has without regard to the hole: with a fill it may have them.

    A line under way may have one that any word would mend: that one is not allowed. In code that is
    broken elsewhere counts are rough, and macros are errors to a parser that knows none: there a
    fill gets some leave.
    """
    if context.syntax is None:
        return 0
    errors = num_errors(context.syntax)
    if errors:
        errors = min(errors, *(errors_with(word, context) for word in PLACEHOLDERS))
    is_rough = errors > 0 or context.language.has_macros
    return errors + 1 + errors // 4 if is_rough else 0
