"""Ends a fill of several lines where it leaves the scope of its hole.

def f():⏎    ├return 1⏎def g():┤   →   def f():⏎    ├return 1┤
"""

from intarsia.infill.postprocess.context import CleaningContext
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.brackets import balance_of
from intarsia.infill.syntax.lines import columns


def cut_to_scope(fill: str, context: CleaningContext) -> str | NoSuggestion:
    """Cut at the first later line that is indented too little, or at the end of the block."""
    if context.hole.kind == "line":
        return fill
    within = _cut_at_closer(_cut_by_indentation(fill, context), context)
    if _begins_outside(within, context):
        return NoSuggestion(reason="the fill is not inside the block")
    return within


def _cut_by_indentation(fill: str, context: CleaningContext) -> str:
    lines = fill.split("\n")
    for index, line in enumerate(lines[1:], start=1):
        if line.strip() and (columns(line) < context.canvas.min_indent or _closes(line, context)):
            return "\n".join(lines[:index])
    return fill


def _closes(line: str, context: CleaningContext) -> bool:
    """Whether the line is the closing bracket at its header's column."""
    header = context.hole.header
    if header is None or header.closer is None:
        return False
    return line.strip().startswith(header.closer) and columns(line) <= header.columns


def _cut_at_closer(fill: str, context: CleaningContext) -> str:
    header = context.hole.header
    if header is None or header.closer is None:
        return fill
    unmatched = [at for at in balance_of(fill).unmatched if fill[at] == header.closer]
    return fill[: unmatched[0]].rstrip() if unmatched else fill


def _begins_outside(fill: str, context: CleaningContext) -> bool:
    """Whether the first line, at the cursor, is indented too little to be its header's body."""
    is_body = context.hole.header is not None and context.language.block_style == "indent"
    if not is_body or context.line_before.strip() or not fill.strip():
        return False
    return columns(context.line_before + fill) < context.canvas.min_indent
