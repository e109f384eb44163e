"""Finds characters that change how text looks, or what it means, without being seen themselves.

These are controls such as the escapes of terminals, marks that turn the direction of text, and
characters without a width. The marks of emoji and of joined scripts are seen, where they belong.
"""

import re
import unicodedata

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
