"""Fits the ends of a fill to the lines around it."""

import re

from intarsia.infill.postprocess.context import CleaningContext
from intarsia.infill.postprocess.parse_errors import errors_with, is_no_worse
from intarsia.infill.postprocess.text_checks import why_it_does_not_fit
from intarsia.infill.syntax.lines import leading_blank
from intarsia.infill.syntax.nodes import is_code


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


def is_whole_beginning(beginning: str, goes_on: str, context: CleaningContext) -> bool:
    """Whether a beginning of a fill can stand alone: the file is no worse with it than without any.

    It ends where a reader would end it. It may not end with the header of a block, and no bracket
    may have to move to a line of its own. ``goes_on`` is the text that the fill goes on with.

    ├f(x)║ + g(┤   →   yes
    ├f(║x)┤, ├f(x, key║=len)┤   →   no
    """
    if _ends_with_header(beginning, context) or not _ends_clause(beginning, goes_on, context):
        return False
    if close_on_own_line(beginning, context) != beginning:
        return False
    if why_it_does_not_fit(beginning, context) is not None:
        return False
    return is_no_worse(beginning, context)


_CLAUSE_ENDS = tuple(";)]}>\n")
_BEFORE_CLAUSE_END = (*_CLAUSE_ENDS, ",")
_CODE = re.compile(r"[()\[\]{}=;<>$]")


def _ends_clause(beginning: str, goes_on: str, context: CleaningContext) -> bool:
    """Whether a beginning ends at a comma, a call or a line end; prose may end at any word."""
    is_prose = context.is_in_string or not is_code(context.syntax, max(0, context.hole.start - 1))
    if context.syntax is None:
        is_prose = _CODE.search(context.line_before + beginning + goes_on) is None
    is_end = beginning.endswith(_CLAUSE_ENDS) or goes_on.startswith(_BEFORE_CLAUSE_END)
    return is_prose or is_end or not goes_on.strip()


def _ends_with_header(beginning: str, context: CleaningContext) -> bool:
    header = context.language.header
    last_line = (context.line_before + beginning).rsplit("\n", 1)[-1].rstrip()
    return header is not None and re.search(header, last_line) is not None
