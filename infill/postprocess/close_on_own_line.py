"""Moves the closing bracket after the cursor to a line of its own, if the fill has several lines.

f() {├⏎    a();┤}   →   f() {├⏎    a();⏎┤}
"""

from intarsia.infill.postprocess.context import CleaningContext


def close_on_own_line(fill: str, context: CleaningContext) -> str:
    """End a body of several lines with a line end and the indentation of its header."""
    header = context.hole.header
    if header is None or header.closer is None or "\n" not in fill:
        return fill
    if not context.rest.strip().startswith(header.closer):
        return fill
    return fill.rstrip() + "\n" + header.indent
