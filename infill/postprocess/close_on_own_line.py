"""Puts the bracket right of the cursor on a line of its own when the body has several lines."""

from intarsia.infill.postprocess.context import CleaningContext


def close_on_own_line(fill: str, context: CleaningContext) -> str:
    """Between two brackets on one line, end a body of several lines with the header's indent."""
    header = context.hole.header
    if header is None or header.closer is None or "\n" not in fill:
        return fill
    if not context.rest.strip().startswith(header.closer):
        return fill
    return fill.rstrip() + "\n" + header.indent
