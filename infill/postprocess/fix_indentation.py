"""Indents a fill as its file is: by tabs or spaces, and no further than the cursor's line allows.

def f():⏎    ├    return 1┤   →   def f():⏎    ├return 1┤
"""

import re

from intarsia.infill.postprocess.context import CleaningContext
from intarsia.infill.syntax.brackets import balance_of, free_lines
from intarsia.infill.syntax.indentation import indent_unit
from intarsia.infill.syntax.lines import columns, leading_blank
from intarsia.infill.syntax.nodes import is_code


def fix_indentation(fill: str, context: CleaningContext) -> str:
    """Drop surplus blanks of the first line, and indent the others by the file's tabs or spaces."""
    if context.language.block_style == "none":
        return fill
    first, *later = fill.split("\n")
    return "\n".join([_at_cursor(first, context), *_in_unit(later, context)])


def _at_cursor(first: str, context: CleaningContext) -> str:
    """Return the first line without the indentation that the cursor's line already has."""
    before = context.line_before
    if before.strip() or not first.strip():
        return first
    if context.hole.header is None and context.language.block_style == "indent":
        return _in_an_open_block(first, context)
    if not before:
        return first
    room = _expected_columns(context) - columns(before)
    return _with_columns(first, room) if columns(first) > max(room, 0) else first


def _with_columns(line: str, num_columns: int) -> str:
    """Return the line with at most this indentation; tabs stay if there is room for some."""
    blank = leading_blank(line)
    kept = blank if num_columns > 0 and "\t" in blank else " " * max(num_columns, 0)
    return kept + line[len(blank) :]


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


def _in_an_open_block(first: str, context: CleaningContext) -> str:
    """Return the first line at a column where a statement may begin: that of an open block."""
    if context.is_in_string or balance_of(context.before).unclosed:
        return first  # what continues a statement may be at any column
    before = context.line_before
    column, least = columns(before + leading_blank(first)), columns(before)
    allowed = _open_columns(context)
    if not allowed or column in allowed:
        return first
    nearest = max((each for each in allowed if least <= each < column), default=least)
    return _with_columns(first, nearest - least)


def _open_columns(context: CleaningContext) -> list[int]:
    """Return the columns of the blocks that are open at the hole, the innermost one first."""
    unit = columns(indent_unit(context.before) or "    ")
    found: list[int] = []
    begin = context.hole.start - len(context.before)  # about there: before has plain line ends
    for offset, line in reversed(free_lines(context.before[: -len(context.line_before) or None])):
        first = max(0, begin + offset + len(leading_blank(line)))
        goes_on = context.before[max(0, offset - 2) : offset] == "\\\n"  # with the line above
        if not line.strip() or goes_on or not is_code(context.syntax, first):
            continue
        if not found and re.search(context.language.header or r"(?!)", line.rstrip()):
            return [columns(line) + unit]
        starts = [columns(line)]
        if line.lstrip().startswith("- "):  # YAML: the keys of an item begin behind its dash
            starts.insert(0, len(line) - len(line.lstrip().removeprefix("- ").lstrip()))
        found += [each for each in starts if not found or each < found[-1]]
        if found and found[-1] == 0:
            break
    return found


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
