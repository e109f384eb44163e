"""Finds the unit by which a text is indented: one tab, or a number of spaces."""

from collections import Counter
from itertools import pairwise

from intarsia.infill.syntax.lines import leading_blank

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
