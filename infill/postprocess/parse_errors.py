"""Counts the parse errors of a file with a fill in it, and rejects a fill that adds some."""

from functools import lru_cache

from intarsia.infill.postprocess.context import CleaningContext
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.brackets import PAIRS, balance_of
from intarsia.infill.syntax.lines import leading_blank
from intarsia.infill.syntax.nodes import MAX_ERRORS, num_errors
from intarsia.infill.syntax.parse import parse_edited

SAMPLE_FILLS = ("x", "0")


def is_no_worse(fill: str, context: CleaningContext) -> bool:
    """Whether the file with the fill has no more errors than are allowed."""
    errors = errors_with(fill, context)
    return errors == 0 or errors <= _errors_allowed(context)


@lru_cache(maxsize=16)  # several filters ask about the same fill
def errors_with(fill: str, context: CleaningContext) -> int:
    """Count the errors of the file with the fill in its hole; 0 if the file cannot be parsed.

    Once the time for that is over, every fill has the most errors.
    """
    if context.syntax is None:
        return 0
    if context.parsing_time.is_over:
        return MAX_ERRORS
    hole = context.hole
    with context.parsing_time.spent():
        syntax = parse_edited(context.syntax, hole.start, hole.end, fill)
        return MAX_ERRORS if syntax is None else num_errors(syntax)


@lru_cache(maxsize=4)
def _errors_allowed(context: CleaningContext) -> int:
    """Return how many errors the file may have with a fill: those that are not due to the hole.

    An unfinished line may have an error that any word would repair; it does not count. In code that
    is broken elsewhere, or full of macros, error counts are rough: there some more are allowed.
    """
    if context.syntax is None:
        return 0
    errors = num_errors(context.syntax)
    if errors:
        errors = min(errors, *(errors_with(sample, context) for sample in SAMPLE_FILLS))
    is_rough = errors > 0 or context.language.has_macros
    return errors + 1 + errors // 4 if is_rough else 0


def reject_new_errors(fill: str, context: CleaningContext) -> str | NoSuggestion:
    """Reject new parse errors, except those that the next lines can repair.

    A line may leave brackets, a statement or a block open.
    """
    if any(is_no_worse(fill + end, context) for end in _possible_ends(fill, context)):
        return fill
    if context.parsing_time.is_over:
        return NoSuggestion(reason="the file takes too long to parse")
    return NoSuggestion(reason="the file would parse worse than before")


def _possible_ends(fill: str, context: CleaningContext) -> list[str]:
    if context.hole.kind != "line" or context.rest.strip():
        return [""]
    closers = "".join(PAIRS[fill[offset]] for offset in reversed(balance_of(fill).unclosed))
    indent = leading_blank(context.line_before + fill)
    ends = [f"\n{indent}{end}" for end in context.language.ends]
    return list(dict.fromkeys(["", closers, closers + ";", *ends]))
