"""Fits the ends of a fill to the lines around it."""

import re

from intarsia.infill.postprocess.context import CleaningContext
from intarsia.infill.postprocess.parse_errors import errors_with, is_no_worse
from intarsia.infill.syntax.lines import leading_blank


def close_on_own_line(fill: str, context: CleaningContext) -> str:
    """End a body of several lines with a line end and the indentation of its header.

    f() {├⏎    a();┤}   →   f() {├⏎    a();⏎┤}
    """
    header = context.hole.header
    if header is None or header.closer is None or "\n" not in fill:
        return fill
    if not context.rest.strip().startswith(header.closer):
        return fill
    return fill.rstrip() + "\n" + header.indent


def keep_line_end(fill: str, context: CleaningContext) -> str:
    """End the fill with a line end if the replaced text had one, or a whole line follows it.

    ├a = 1┤b = 2   →   ├a = 1⏎┤b = 2
    """
    if context.hole.kind != "span":
        return fill
    body = fill.rstrip()
    removed = context.text[context.hole.start : context.hole.end]
    if removed.rstrip(" \t").endswith(("\n", "\r")):
        return body + "\n" + leading_blank(removed[::-1])[::-1]
    if removed or context.line_before.strip() or not context.rest.strip():
        return fill
    on_own_line = body + "\n" + context.line_before
    candidates = (on_own_line, fill) if "\n" in fill else (fill, on_own_line)  # likelier first
    return min(candidates, key=lambda candidate: errors_with(candidate, context))


_NEEDS_NO_BLANK = tuple(" \t)];,:")


def trim_blank(fill: str, context: CleaningContext) -> str:
    """Trim the end before a line end or closing mark, and the start after a blank.

    x = ├ 1 ┤)   →   x = ├1┤)
    """
    before, rest = context.line_before, context.rest
    trimmed = fill
    if before.strip() and before[-1:] in " \t" and not fill.startswith("\n"):
        trimmed = trimmed.lstrip(" \t")
    if not rest.strip():
        return trimmed.rstrip()
    return trimmed.rstrip(" \t") if rest.startswith(_NEEDS_NO_BLANK) else trimmed


def is_whole_beginning(beginning: str, context: CleaningContext) -> bool:
    """Whether the file parses no worse with this beginning of a fill than without any.

    It may not end with the header of a block, and no bracket may have to move to a line of its own.

    ├f(x)║ + g(┤   →   yes
    ├f(║x)┤   →   no
    """
    if _ends_with_header(beginning, context):
        return False
    return close_on_own_line(beginning, context) == beginning and is_no_worse(beginning, context)


def _ends_with_header(beginning: str, context: CleaningContext) -> bool:
    header = context.language.header
    last_line = (context.line_before + beginning).rsplit("\n", 1)[-1].rstrip()
    return header is not None and re.search(header, last_line) is not None
