"""Turns words into a query for similar passages that is quick in an index of any size.

Words that many passages have cost the most time and tell the least. The rarest words come first,
until the passages to be looked at are enough.
"""

from collections.abc import Callable, Iterable

from intarsia.workspace.words import words_of

MAX_QUERY_WORDS = 32
MAX_LOOKED_AT = 40_000
"""Passages that have one of the words, counted once for each: about 40 ms."""
MAX_COMMON_SHARE = 0.1
"""A word that a larger share of all passages has is left out."""
_FEWEST_COMMON = 50


def passage_query(
    words: Iterable[str], num_passages: int, num_passages_with: Callable[[str], int]
) -> str:
    """Return a query of FTS5 for any of the words, "" if no word is worth searching."""
    most = max(_FEWEST_COMMON, MAX_COMMON_SHARE * num_passages)
    unique = dict.fromkeys(part for word in words for part in words_of(word))
    counted = sorted((num_passages_with(word), word) for word in unique)
    chosen: list[str] = []
    looked_at = 0
    for count, word in counted:
        if count == 0:
            continue
        looked_at += count
        if count > most or len(chosen) == MAX_QUERY_WORDS or (chosen and looked_at > MAX_LOOKED_AT):
            break
        chosen.append(f'"{word}"')
    return " OR ".join(chosen)
