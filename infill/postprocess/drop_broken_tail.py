"""Drops the last lines of a fill where the model was stopped in the middle of something."""

from intarsia.infill.postprocess.context import CleaningContext
from intarsia.infill.postprocess.keep_line_end import keep_line_end
from intarsia.infill.postprocess.parse_errors import is_no_worse

MAX_DROPPED_LINES = 8


def drop_broken_tail(fill: str, context: CleaningContext) -> str:
    """Keep the most lines with which the file parses no worse than before; all where none do."""
    lines = fill.split("\n")
    if context.syntax is None or len(lines) == 1:
        return fill
    for num_dropped in range(min(MAX_DROPPED_LINES, len(lines) - 1) + 1):
        kept = "\n".join(lines[: len(lines) - num_dropped]).rstrip()
        if not kept.strip():
            break
        if is_no_worse(keep_line_end(kept, context), context):
            return kept
    return fill
