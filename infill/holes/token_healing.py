"""Token healing: the model's fill begins a little before the hole, so that no token is cut.

Byte-pair tokenizers join one leading blank or punctuation mark to the word after it (" return",
".append"). So a half-typed word is given to the fill with the one character before it.
"""

import string
import unicodedata

from intarsia.infill.syntax.lines import line_start

MAX_GIVEN_CHARS = 64


def given_start(text: str, start: int) -> int:
    """Return where the text that the fill must begin with starts, on the line of ``start``."""
    earliest = max(line_start(text, start), start - MAX_GIVEN_CHARS)
    offset = start
    while offset > earliest and is_word_character(text[offset - 1]):
        offset -= 1
    if offset > earliest and _joins_next_word(text[offset - 1]):
        offset -= 1
    return offset


def is_word_character(character: str) -> bool:
    """Whether the character can continue an identifier or a word (combining marks can)."""
    return ("a" + character).isidentifier()


def _joins_next_word(character: str) -> bool:
    is_mark = character in string.punctuation or unicodedata.category(character).startswith("P")
    return is_mark or character in " \t"
