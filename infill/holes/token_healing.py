"""Where the model's fill begins so that no token is cut: a little before the hole.

Byte-pair tokenizers glue one leading blank or punctuation mark to the word after it (" return",
".append"), so the half-typed word goes to the fill together with the one character before it.
"""

import string
import unicodedata

from intarsia.infill.syntax.lines import line_start

MAX_GIVEN_CHARS = 64


def given_start(text: str, start: int) -> int:
    """Return where the text that the fill must begin with starts; at a line's start: there."""
    floor = max(line_start(text, start), start - MAX_GIVEN_CHARS)
    begin = start
    while begin > floor and is_word_character(text[begin - 1]):
        begin -= 1
    if begin > floor and _is_glued(text[begin - 1]):
        begin -= 1
    return begin


def is_word_character(character: str) -> bool:
    """Whether the character can go on an identifier or a word (combining marks do)."""
    return ("a" + character).isidentifier()


def _is_glued(character: str) -> bool:
    is_mark = character in string.punctuation or unicodedata.category(character).startswith("P")
    return is_mark or character in " \t"
