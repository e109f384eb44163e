"""Lines, columns, characters: arithmetic on a text. A line ends at LF, CRLF or a single CR."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from itertools import accumulate, pairwise

BYTE_ORDER_MARK = "\ufeff"
TAB_WIDTH = 8

_LINE_END = re.compile(r"\r\n|\r|\n")


def with_plain_newlines(text: str) -> str:
    """Return the text with every line end as one LF."""
    return _LINE_END.sub("\n", text) if "\r" in text else text


def newline_of(text: str) -> str:
    """Return the first line end of the text, LF if it has none."""
    match = _LINE_END.search(text)
    return match.group() if match else "\n"


def line_starts(text: str) -> list[int]:
    """Return the offset at which each line starts; there is always a first line."""
    if "\r" in text:
        return [0, *(match.end() for match in _LINE_END.finditer(text))]
    return list(accumulate((len(line) + 1 for line in text.split("\n")[:-1]), initial=0))


def line_start(text: str, offset: int) -> int:
    """Return where the line at an offset starts; a CRLF belongs to the line that it ends."""
    offset -= splits_line_end(text, offset)
    start = text.rfind("\n", 0, offset) + 1
    return max(start, text.rfind("\r", start, offset) + 1)


def line_end(text: str, offset: int) -> int:
    """Return where the line at an offset ends, before its line end."""
    match = _LINE_END.search(text, offset)
    return match.start() if match else len(text)


def next_line_start(text: str, offset: int) -> int:
    """Return where the next line starts, or the end of the text on the last line."""
    match = _LINE_END.search(text, offset)
    return match.end() if match else len(text)


def line_at(text: str, offset: int) -> str:
    """Return the whole line at an offset, without its line end."""
    return text[line_start(text, offset) : line_end(text, offset)]


def next_non_blank_line(text: str, offset: int) -> str | None:
    """Return the first non-blank line after the line at the offset."""
    start = next_line_start(text, offset)
    while start < len(text):
        line = text[start : line_end(text, start)]
        if line.strip():
            return line
        start = next_line_start(text, start)
    return None


def last_non_blank(text: str, end: int) -> int:
    """Return the offset of the last non-blank character before ``end``, or -1."""
    while end > 0 and text[end - 1].isspace():
        end -= 1
    return end - 1


def splits_line_end(text: str, offset: int) -> bool:
    """Whether the offset is between the two characters of a CRLF."""
    return 0 < offset < len(text) and text[offset - 1] == "\r" and text[offset] == "\n"


def leading_blank(line: str) -> str:
    """Return the spaces and tabs that a line starts with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def columns(line: str) -> int:
    """Return by how many columns a line is indented; a tab ends at the next multiple of 8."""
    return len(leading_blank(line).expandtabs(TAB_WIDTH))


_SUSPECT = re.compile(r"[^ -~\t\n]")
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d")
_WITHOUT_WIDTH = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that are drawn as nothing."""
_SIGNS = re.compile(r"[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd]")
"""Format characters that are drawn, such as the Arabic sign of a number."""
_SELECTORS = re.compile(r"[\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_KEYCAP = "\u20e3"


def first_hidden(text: str, known: str = "") -> int | None:
    """Return the offset of the first hidden character that is not in ``known``, None if none is."""
    known_ones = set[str]()
    for match in _SUSPECT.finditer(text):
        if match[0] not in known_ones and _is_hidden(text, match.start()):
            if match[0] not in known:
                return match.start()
            known_ones.add(match[0])
    return None


def _is_hidden(text: str, offset: int) -> bool:
    character = text[offset]
    before, after = text[max(0, offset - 1) : offset], text[offset + 1 : offset + 2]
    if character in _JOINERS:
        return before.isascii() or after.isascii()
    if _SELECTORS.match(character):
        is_selected = not before.isascii() and not _SELECTORS.match(before)
        return not is_selected and after != _KEYCAP
    if unicodedata.category(character) in _HIDDEN_CATEGORIES:
        return not _SIGNS.match(character)
    return character in _WITHOUT_WIDTH


def replaced_range(old: str, new: str) -> tuple[int, int, int]:
    """Return start, end in ``old``, and end in ``new`` of the range that was replaced."""
    num_old, num_new = len(old), len(new)
    most = min(num_old, num_new)
    start = _num_alike(most, lambda low, high: old[low:high] == new[low:high])
    tail = _num_alike(
        most - start,
        lambda low, high: (
            old[num_old - high : num_old - low] == new[num_new - high : num_new - low]
        ),
    )
    return start, num_old - tail, num_new - tail


def _num_alike(most: int, is_same: Callable[[int, int], bool]) -> int:
    """Count the characters that are the same, by bisection: comparing slices is fast."""
    low = 0
    while low < most:
        middle = (low + most + 1) // 2
        if is_same(low, middle):
            low = middle
        else:
            most = middle - 1
    return low


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
