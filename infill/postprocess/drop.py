"""Drops what is no part of a fill: special tokens, a code fence, blank lines, a broken end."""

import re

from intarsia.infill.postprocess.context import CleaningContext
from intarsia.infill.postprocess.line_ends import keep_line_end
from intarsia.infill.postprocess.parse_errors import is_no_worse

_SPECIAL = re.compile(
    r"<\|[A-Za-z0-9_]{1,40}\|>|<｜[^｜\n]{1,40}｜>|<fim_(?:prefix|suffix|middle|pad)>|<EOT>|\0"
)
_CUT_CHARACTER = "\ufffd"


def drop_special_tokens(fill: str, context: CleaningContext) -> str:
    """Cut at end-of-text, FIM and mask tokens, and drop an incomplete character at the end."""
    mark = _SPECIAL.search(fill)
    return (fill[: mark.start()] if mark else fill).rstrip(_CUT_CHARACTER)


_OPENING = re.compile(r"\s*(?:```|~~~)[\w+#-]*\n")
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)


def drop_code_fence(fill: str, context: CleaningContext) -> str:
    """Drop an opening fence and end the fill at a closing one; not in plain text or a string."""
    if context.language.grammar is None or context.is_in_string:
        return fill
    opening = _OPENING.match(fill)
    inner = fill[opening.end() :] if opening else fill
    closing = _FENCE.search(inner)
    return inner[: closing.start()].rstrip("\n") if closing else inner


_BLANK_LINES = re.compile(r"(?:[ \t]*\n)+")


def drop_leading_blank_lines(fill: str, context: CleaningContext) -> str:
    """Drop blank lines at the start; one line end stays after a header on the cursor's line."""
    blank = _BLANK_LINES.match(fill)
    if blank is None or context.hole.kind == "line":
        return fill
    if not context.line_before.strip():
        return fill[blank.end() :]
    return "\n" + fill[blank.end() :] if context.hole.kind == "block" else fill


MAX_DROPPED_LINES = 8


def drop_broken_tail(fill: str, context: CleaningContext) -> str:
    """Keep as many lines as parse no worse than before; all lines if no shorter fill does.

    ├a = 1⏎b = foo(┤   →   ├a = 1┤
    """
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
