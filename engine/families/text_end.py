"""Where a hole's text ends by the rules of its request: text comes in, an offset goes out."""

from collections.abc import Sequence

_TAB_COLUMNS = 8


def find_text_end(text: str, *, stop: Sequence[str], min_indent: int) -> int | None:
    """Return where the first stop text begins or a later line is indented too little, else None."""
    ends = [text.find(mark) for mark in stop if mark and mark in text]
    ends += _outdents(text, min_indent) if min_indent > 0 else []
    return min(ends, default=None)


def _outdents(text: str, min_indent: int) -> list[int]:
    """Return the line break before each later non-blank line that is indented too little."""
    breaks = []
    offset = text.find("\n")
    while offset >= 0:
        following = text.find("\n", offset + 1)
        line = text[offset + 1 : following if following >= 0 else None]
        if line.strip() and _indent(line) < min_indent:
            breaks.append(offset)
        offset = following
    return breaks


def _indent(line: str) -> int:
    columns = 0
    for sign in line:
        if sign == "\t":
            columns += _TAB_COLUMNS - columns % _TAB_COLUMNS
        elif sign == " ":
            columns += 1
        else:
            break
    return columns
