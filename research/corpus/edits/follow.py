"""Tells which hunks of a commit follow from its first: over shared names and substitutions."""

from collections.abc import Iterable, Sequence

from intarsia_research.corpus.edits.changed_tokens import TokenChanges

FEWEST_NAME_CHARS = 3

_KEYWORDS = frozenset(
    word
    for words in (
        "this return self def class func function const let var import from else elif for while",
        "not and None True False null undefined true false new public private protected static",
        "final void int string str bool boolean float long char byte err error nil type struct",
        "interface mod pub use impl match Some Err async await try catch except finally raise",
        "throw throws with pass break continue lambda yield export default extends implements",
        "package super the The",
    )
    for word in words.split()
)
"""Words that are in any change: that two hunks share one says nothing."""


def following(changes: Sequence[TokenChanges]) -> frozenset[int]:
    """Return the numbers of the first hunk and of those linked to it, also through others."""
    linked, open_ends = {0}, [0]
    while open_ends:
        one = changes[open_ends.pop()]
        for number, other in enumerate(changes):
            if number not in linked and _are_linked(one, other):
                linked.add(number)
                open_ends.append(number)
    return frozenset(linked)


def _are_linked(one: TokenChanges, other: TokenChanges) -> bool:
    """Whether both make one substitution, or both bring or remove one name, in any case."""
    return bool(
        set(one.substitutions) & set(other.substitutions)
        or _names(one.added - one.removed) & _names(other.added - other.removed)
        or _names(one.removed - one.added) & _names(other.removed - other.added)
    )


def _names(words: Iterable[str]) -> set[str]:
    return {
        word.lower() for word in words if len(word) >= FEWEST_NAME_CHARS and word not in _KEYWORDS
    }
