"""Drops blanks at both ends of a fill that the text around it already has.

x = ├ 1 ┤)   →   x = ├1┤)
"""

from intarsia.infill.postprocess.context import CleaningContext

_NEEDS_NO_BLANK = tuple(" \t)];,:")


def trim_blank(fill: str, context: CleaningContext) -> str:
    """Trim the end before a line end or closing mark, and the start after a blank."""
    before, rest = context.line_before, context.rest
    trimmed = fill
    if before.strip() and before[-1:] in " \t" and not fill.startswith("\n"):
        trimmed = trimmed.lstrip(" \t")
    if not rest.strip():
        return trimmed.rstrip()
    return trimmed.rstrip(" \t") if rest.startswith(_NEEDS_NO_BLANK) else trimmed
