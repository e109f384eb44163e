"""Ends a fill where the model repeats itself: the same lines, or the same words, over and over.

├a()⏎b()⏎a()⏎b()⏎a()⏎b()┤   →   ├a()⏎b()┤
"""

import re

from intarsia.infill.postprocess.context import CleaningContext

MIN_REPEATS = 3
MAX_LOOP_LINES = 8

_WORD_LOOP = re.compile(r"(?P<unit>\S.{3,78}?)(?P=unit){3,}")
_HAS_WORD = re.compile(r"[^\W\d_]{2}")


def cut_repetition(fill: str, context: CleaningContext) -> str:
    """Keep the first round of a repetition."""
    lines = [_cut_word_loop(line) for line in fill.split("\n")]
    return "\n".join(_cut_line_loop(lines))


def _cut_word_loop(line: str) -> str:
    """Cut a line that ends with one text four times; a row of signs or numbers does not count."""
    for loop in _WORD_LOOP.finditer(line):
        unit = loop["unit"]
        is_at_end = unit.startswith(line[loop.end() :])
        if is_at_end and _HAS_WORD.search(unit):
            return line[: loop.start() + len(unit)].rstrip()
    return line


def _cut_line_loop(lines: list[str]) -> list[str]:
    for start in range(len(lines)):
        for length in range(1, MAX_LOOP_LINES + 1):
            if _is_loop(lines, start, length):
                return lines[: start + length]
    return lines


def _is_loop(lines: list[str], start: int, length: int) -> bool:
    first_round = lines[start : start + length]
    rounds = lines[start : start + length * MIN_REPEATS]
    has_word = any(_HAS_WORD.search(line) for line in first_round)
    return has_word and len(rounds) == length * MIN_REPEATS and rounds == first_round * MIN_REPEATS
