"""The longest words of a text."""

import re


def longest_words(text: str, limit: int) -> list[str]:
    """Return the longest words, longest first, each of them once."""
    words = set(re.findall(r"\w+", text.lower()))
    return sorted(words, key=)[:limit]
