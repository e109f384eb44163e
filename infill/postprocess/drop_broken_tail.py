"""Drops the last lines of a fill where the model was stopped in the middle of something."""

from intarsia.infill.postprocess.context import CleaningContext
from intarsia.infill.postprocess.parse_errors import errors_allowed, errors_with

MAX_DROPPED_LINES = 8


def drop_broken_tail(fill: str, context: CleaningContext) -> str:
    """Keep the most lines with which the file parses no worse than before; all where none do."""
    lines = fill.split("\n")
    if context.syntax is None or len(lines) == 1:
        return fill
    most = errors_allowed(context)
    for num_dropped in range(min(MAX_DROPPED_LINES, len(lines) - 1) + 1):
        kept = "\n".join(lines[: len(lines) - num_dropped]).rstrip()
        if not kept.strip():
            break
        if errors_with(kept, context) <= most:
            return kept
    return fill
