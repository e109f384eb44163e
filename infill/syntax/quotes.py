"""Follows the quotes of one line without a parser: which one is still open at its end.

An apostrophe inside a word is no quote: ``don't``. One without a partner may be a lifetime or a
symbol (``&'a str``, ``'foo``), so a single quote is only open if the caller knows that it closes.
"""

import re

_PREFIXES = ("r", "b", "f", "u", "rb", "br", "fr", "rf")
_WORD = "abcdefghijklmnopqrstuvwxyz0123456789_"
_QUOTE = re.compile(r"\\.|'''|\"\"\"|[\"'`]")
_INSIDE = {
    quote: re.compile(rf"\\.|[#$]\{{[^{{}}\n]*\}}|{quote}")
    for quote in ('"', "'", "`", '"""', "'''")
}


def open_quote(line: str) -> str | None:
    """Return the quote that is open at the end of a line, None if there is none."""
    offset = 0
    while (mark := _QUOTE.search(line, offset)) is not None:
        quote, offset = mark.group(), mark.end()
        if quote.startswith("\\") or _is_apostrophe(line, mark.start(), quote):
            continue
        end = closing_quote(line, offset, quote)
        if end is None:
            return quote
        offset = end + len(quote)
    return None


def closing_quote(line: str, start: int, quote: str) -> int | None:
    """Return where a quote that is open at ``start`` closes on the line, None if it does not."""
    offset = start
    while (mark := _INSIDE[quote].search(line, offset)) is not None:
        if mark.group() == quote and not _is_in_word(line, mark.start(), quote):
            return mark.start()
        offset = mark.end()
    return None


def _is_apostrophe(line: str, offset: int, quote: str) -> bool:
    """Whether a single quote belongs to the word before it."""
    if quote != "'":
        return False
    near = line[max(0, offset - 3) : offset].lower()
    word = near[len(near.rstrip(_WORD)) :]
    return word != "" and word not in _PREFIXES


def _is_in_word(line: str, offset: int, quote: str) -> bool:
    around = line[max(0, offset - 1) : offset], line[offset + 1 : offset + 2]
    return quote == "'" and all(char.isalnum() for char in around)
