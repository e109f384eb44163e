"""Drops the last lines of a fill that was cut off in the middle of a statement.

├a = 1⏎b = foo(┤   →   ├a = 1┤
"""

from intarsia.infill.postprocess.context import CleaningContext
from intarsia.infill.postprocess.keep_line_end import keep_line_end
from intarsia.infill.postprocess.parse_errors import is_no_worse

MAX_DROPPED_LINES = 8


def drop_broken_tail(fill: str, context: CleaningContext) -> str:
    """Keep as many lines as parse no worse than before; all lines if no shorter fill does."""
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
