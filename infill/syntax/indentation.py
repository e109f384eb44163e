"""Reads the indentation of lines, and predicts that of the line after Enter."""

import re
from collections import Counter
from itertools import pairwise

from intarsia.infill.languages import Language
from intarsia.infill.syntax.embedded_code import code_at
from intarsia.infill.syntax.lines import leading_blank, line_end, line_start, newline_of

MAX_LINES_READ = 400
WIDEST_UNIT = 8


def indent_unit(text: str) -> str | None:
    """Return the text's unit of indentation; None if no line is indented."""
    lines = [line for line in text.split("\n", MAX_LINES_READ)[:MAX_LINES_READ] if line.strip()]
    blanks = [leading_blank(line) for line in lines]
    num_tabs = sum(blank.startswith("\t") for blank in blanks)
    num_spaces = sum(blank.startswith("  ") for blank in blanks)
    if num_tabs == num_spaces == 0:
        return None
    return "\t" if num_tabs >= num_spaces else " " * _usual_step(blanks)


def _usual_step(blanks: list[str]) -> int:
    """Return the most frequent difference, in spaces, between a line and the line above it."""
    steps = (len(right) - len(left) for left, right in pairwise(["", *blanks]))
    counts = Counter(step for step in steps if 2 <= step <= WIDEST_UNIT)
    return counts.most_common(1)[0][0] if counts else 4


_DEFAULT_UNIT = " " * 4
_OPENERS = ("(", "[", "{")
_ENDS_BLOCK = re.compile(r"\s*(?:return|raise|break|continue|pass)\b")


def end_and_next_line(text: str, offset: int, language: Language) -> tuple[int, str]:
    """Return the end of the line at ``offset``, and what Enter inserts there."""
    end = line_end(text, offset)
    line = text[line_start(text, offset) : end]
    code = code_at(text, offset, offset, language)
    return end, newline_of(text) + _indentation_below(line, code.text, code.language)


def _indentation_below(line: str, text: str, language: Language) -> str:
    blank, unit = leading_blank(line), indent_unit(text) or _DEFAULT_UNIT
    if _opens_block(line, language):
        return blank + unit
    is_end = language.block_style == "indent" and _ENDS_BLOCK.match(line) is not None
    return blank.removesuffix(unit) if is_end else blank


def _opens_block(line: str, language: Language) -> bool:
    code = line.rstrip()
    if not code:
        return False
    is_header = language.header is not None and re.search(language.header, code) is not None
    return is_header or code.endswith(_OPENERS) or code[-1] in language.openers
