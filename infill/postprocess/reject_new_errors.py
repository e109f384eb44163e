"""Rejects a fill with which the file parses worse than before, such as ``x = )``."""

from intarsia.infill.postprocess.context import CleaningContext
from intarsia.infill.postprocess.parse_errors import is_no_worse
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.brackets import PAIRS, balance_of
from intarsia.infill.syntax.lines import leading_blank


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
