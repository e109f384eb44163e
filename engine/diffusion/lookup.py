"""A free proposal: how the text went on where its last two tokens stood before."""

from collections.abc import Sequence

_KEY = 2  # tokens that must agree


def continue_from_earlier(ids: Sequence[int], num_tokens: int, first: int | None) -> list[int]:
    """Return up to ``num_tokens`` ids that followed the latest earlier such place.

    A continuation must begin with ``first`` where one is named: the model's own proposal vetoes a
    chance repetition.
    """
    if len(ids) <= _KEY:
        return []
    key = list(ids[-_KEY:])
    for start in range(len(ids) - _KEY - 1, -1, -1):
        if ids[start + 1] != key[1] or ids[start] != key[0]:
            continue
        found = list(ids[start + _KEY : start + _KEY + num_tokens])
        if first is None or found[0] == first:
            return found
    return []
