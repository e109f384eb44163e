"""Lines and columns of a text: arithmetic on offsets. A line ends at LF, CRLF or a single CR."""

import re
from itertools import accumulate

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
