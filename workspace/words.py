"""Splits code into identifiers, and identifiers into the words that they are made of.

``parseHttpHeader`` and ``parse_http_headers`` have the same words: code is compared by them.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

MIN_WORD_CHARS = 3

_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\dA-Za-z_]+")

_KEYWORDS = (
    "abstract and any as assert async await base begin bool boolean break byte case catch char"
    " class const continue data def default defer del delete do double elif else elsif end enum"
    " except export extends extern false final finally float fn for from func function get global"
    " go goto if impl implements import in include inline instanceof int integer interface internal"
    " is lambda let list local long loop map match mod module mut namespace new nil none nonlocal"
    " not null number object of operator or out override package pass private protected pub public"
    " raise readonly ref require rescue return self set short signed sizeof static str string"
    " struct super switch template then this throw throws trait true try type typedef typeof undef"
    " undefined union unless unsafe unsigned until use using val value var virtual void volatile"
    " when where while with yield"
)
KEYWORDS = frozenset(_KEYWORDS.split())
"""Words of many languages that say nothing about what a passage is about."""


def identifiers(text: str) -> Iterator[str]:
    """Yield the identifiers of a text in order, keywords left out, comments and strings not."""
    return (word for word in _IDENTIFIER.findall(text) if word not in KEYWORDS)


@lru_cache(maxsize=65_536)
def words_of(identifier: str) -> tuple[str, ...]:
    """Return the words of an identifier in lower case, a plural as its singular."""
    humps = (hump.lower() for hump in _HUMP.findall(identifier))
    return tuple(
        _singular(hump) for hump in humps if len(hump) >= MIN_WORD_CHARS and hump not in KEYWORDS
    )


def words_in(text: str) -> frozenset[str]:
    """Return all words of all identifiers of a text."""
    return frozenset(word for name in _IDENTIFIER.findall(text) for word in words_of(name))


def _singular(word: str) -> str:
    is_plural = len(word) > MIN_WORD_CHARS and word.endswith("s") and not word.endswith("ss")
    return word[:-1] if is_plural else word
