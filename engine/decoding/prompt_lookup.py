"""A free proposal: how earlier text went on where its tokens were the last two of the hole.

Found by a search for bytes, as that costs microseconds in a context of any length.
"""

from array import array
from collections.abc import Sequence

_KEY = 2  # tokens that must agree
_WIDTH = array("I").itemsize


class EarlierText:
    """Rows of token ids that may be continued alike; of the places that fit, the last one counts.

    ``others`` stand for themselves: none continues another. They are looked at before ``context``,
    which the hole's own tokens follow.
    """

    def __init__(self, context: Sequence[int], others: Sequence[Sequence[int]] = ()) -> None:
        self._context = _as_bytes(context)
        self._others = [_as_bytes(ids) for ids in reversed(others)]

    def continue_from(
        self, written: Sequence[int], num_tokens: int, first: int | None
    ) -> list[int]:
        """Return up to ``num_tokens`` ids that followed where the last two tokens before the hole's
        next one stood.

        A continuation must begin with ``first`` where one is named: the model's own proposal vetoes
        a chance repetition.
        """
        own = self._context + _as_bytes(written)
        if not num_tokens or len(own) < _KEY * _WIDTH:
            return []
        key = own[-_KEY * _WIDTH :] + (b"" if first is None else _as_bytes([first]))
        for held in (*self._others, own):
            at = _last_place(held, key)
            if at is not None:
                start = at + _KEY * _WIDTH
                return list(array("I", held[start : start + num_tokens * _WIDTH]))
        return []


def _as_bytes(ids: Sequence[int]) -> bytes:
    return array("I", ids).tobytes()


def _last_place(held: bytes, key: bytes) -> int | None:
    """Return where the key stands last with a token behind its first two."""
    end = len(held) if len(key) > _KEY * _WIDTH else len(held) - _WIDTH
    at = held.rfind(key, 0, max(0, end))
    while at > 0 and at % _WIDTH:  # it fits only across tokens
        at = held.rfind(key, 0, at + len(key) - 1)
    return None if at < 0 else at
