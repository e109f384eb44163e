"""Ends a fill after the number of lines that its hole allows."""

from intarsia.infill.postprocess.context import CleaningContext


def cut_to_max_lines(fill: str, context: CleaningContext) -> str:
    """Keep the first lines; the end of a header's own line does not count."""
    lines = fill.split("\n")
    num_extra = 1 if context.hole.kind != "line" and not lines[0].strip() else 0
    return "\n".join(lines[: context.hole.max_lines + num_extra])
