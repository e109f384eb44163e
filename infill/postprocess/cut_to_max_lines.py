"""Ends a fill after the number of lines that its hole allows."""

from intarsia.infill.postprocess.context import CleaningContext
from intarsia.infill.syntax.brackets import balance_of


def cut_to_max_lines(fill: str, context: CleaningContext) -> str:
    """Keep the first lines; the line end that finishes a header's own line is not counted.

    A line that opens brackets is kept up to the line that closes them, if there is one.
    """
    lines = fill.split("\n")
    if context.canvas.max_open is not None:
        return "\n".join(lines[: _num_until_closed(lines, context.canvas.max_open)])
    num_extra = 1 if context.hole.kind != "line" and not lines[0].strip() else 0
    return "\n".join(lines[: context.hole.max_lines + num_extra])


def _num_until_closed(lines: list[str], max_open: int) -> int:
    for count in range(1, len(lines) + 1):
        if len(balance_of("\n".join(lines[:count])).unclosed) <= max_open:
            return count
    return 1
