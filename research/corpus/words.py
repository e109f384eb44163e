"""A text → its words: what the comparisons of texts compare. Signs and blanks do not count."""

import re

_WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """Return the names, keywords, numbers and words of a text in lower case, in order."""
    return _WORD.findall(text.lower())
