"""Halves of UTF-16's pairs: a client may send an emoji in two changes, or change one half of it.

Between the two, half a character is in the text. It has no form in UTF-8, so nobody else gets it.
"""

import re

from intarsia.engine.ipc.plain_json import as_meant

_HALF = re.compile("[\ud800-\udfff]")


def joined(text: str) -> str:
    """Return the text with each two halves of a pair as one character."""
    if text.isascii() or not _HALF.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def readable(text: str) -> str:
    """Return the text with replacement characters for halves: as long in every encoding."""
    return str(as_meant(text))


def halves(character: str) -> tuple[str, str]:
    """Return the two halves of a character that UTF-16 has a pair for."""
    offset = ord(character) - 0x10000
    return chr(0xD800 + (offset >> 10)), chr(0xDC00 + (offset & 0x3FF))
