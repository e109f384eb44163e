"""Drops the blanks at a fill's ends that its surroundings already have."""

from intarsia.infill.postprocess.context import CleaningContext

_NEEDS_NO_BLANK = tuple(" \t)];,:")


def trim_blank(fill: str, context: CleaningContext) -> str:
    """Trim the end where nothing or a closing mark follows, and a doubled blank at the start."""
    before, rest = context.line_before, context.rest
    trimmed = fill
    if before.strip() and before[-1:] in " \t" and not fill.startswith("\n"):
        trimmed = trimmed.lstrip(" \t")
    if not rest.strip():
        return trimmed.rstrip()
    return trimmed.rstrip(" \t") if rest.startswith(_NEEDS_NO_BLANK) else trimmed
