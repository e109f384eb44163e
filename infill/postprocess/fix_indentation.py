"""Indents a fill as its file is: by tabs or spaces, and no further than the cursor's line allows.

def f():⏎    ├    return 1┤   →   def f():⏎    ├return 1┤
"""

from intarsia.infill.postprocess.context import CleaningContext
from intarsia.infill.syntax.indentation import indent_unit
from intarsia.infill.syntax.lines import columns, leading_blank


def fix_indentation(fill: str, context: CleaningContext) -> str:
    """Drop surplus blanks of the first line, and indent the others by the file's tabs or spaces."""
    if context.language.block_style == "none":
        return fill
    first, *later = fill.split("\n")
    return "\n".join([_at_cursor(first, context), *_in_unit(later, context)])


def _at_cursor(first: str, context: CleaningContext) -> str:
    """Return the first line without the indentation that the cursor's line already has."""
    before = context.line_before
    if before.strip() or not before or not first.strip():
        return first
    room = _expected_columns(context) - columns(before)
    blank = leading_blank(first)
    if len(blank.expandtabs()) <= max(room, 0):
        return first
    kept = blank if room > 0 and "\t" in blank else " " * max(room, 0)
    return kept + first[len(blank) :]


def _expected_columns(context: CleaningContext) -> int:
    """Return how far the first line should be indented, by its header or by the line above."""
    unit = columns(indent_unit(context.before) or "    ")
    header = context.hole.header
    if header is not None:
        return header.columns + unit
    above = [line for line in context.before.split("\n")[:-1] if line.strip()]
    if not above:
        return 0
    is_opened = above[-1].rstrip()[-1:] in tuple(":{([")
    return columns(above[-1]) + (unit if is_opened else 0)


def _in_unit(lines: list[str], context: CleaningContext) -> list[str]:
    own_line = context.before + "x"  # a cursor line of only blanks shows the unit too
    unit = indent_unit(own_line + "\n" + "\n".join(context.following))
    if unit is None:
        return lines
    return [_with_tabs(line, lines) if unit == "\t" else _with_spaces(line, unit) for line in lines]


def _with_spaces(line: str, unit: str) -> str:
    blank = leading_blank(line)
    return blank.replace("\t", unit) + line[len(blank) :]


def _with_tabs(line: str, lines: list[str]) -> str:
    """Turn each group of spaces into a tab; remaining spaces are for alignment and stay."""
    blank = leading_blank(line)
    is_by_four = all(len(leading_blank(other)) % 4 == 0 for other in lines if other.strip())
    return blank.replace("    " if is_by_four else "  ", "\t") + line[len(blank) :]
