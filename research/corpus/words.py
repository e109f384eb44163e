"""Split a text into words, without punctuation and whitespace, for comparing texts."""

import re

_WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """Return the identifiers, keywords, numbers and words of a text in lower case, in order."""
    return _WORD.findall(text.lower())
