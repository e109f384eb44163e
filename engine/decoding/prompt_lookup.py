"""Prompt lookup decoding: propose what followed the hole's last two tokens earlier in the text.

A byte search costs microseconds in a context of any length. See
https://github.com/apoorvumang/prompt-lookup-decoding.
"""

from array import array
from collections.abc import Sequence

_KEY_TOKENS = 2  # tokens that must agree
_ID_BYTES = array("I").itemsize


class PromptLookup:
    """Rows of token ids that a hole may repeat; the last match counts.

    Each row of ``others`` is independent: none continues another. These are searched, the last row
    first, before ``context``, which the hole's own tokens follow.
    """

    def __init__(self, context: Sequence[int], others: Sequence[Sequence[int]] = ()) -> None:
        self._context = _as_bytes(context)
        self._others = [_as_bytes(ids) for ids in reversed(others)]

    def continue_from(
        self, written: Sequence[int], num_tokens: int, first: int | None
    ) -> list[int]:
        """Return up to ``num_tokens`` ids that followed the last two tokens before.

        If ``first`` is given, a continuation must begin with it: the model's own proposal rejects
        a chance repetition.
        """
        own = self._context + _as_bytes(written)
        if not num_tokens or len(own) < _KEY_TOKENS * _ID_BYTES:
            return []
        key = own[-_KEY_TOKENS * _ID_BYTES :] + (b"" if first is None else _as_bytes([first]))
        for row in (*self._others, own):
            at = _last_match(row, key)
            if at is not None:
                start = at + _KEY_TOKENS * _ID_BYTES
                return list(array("I", row[start : start + num_tokens * _ID_BYTES]))
        return []


def _as_bytes(ids: Sequence[int]) -> bytes:
    return array("I", ids).tobytes()


def _last_match(row: bytes, key: bytes) -> int | None:
    """Return the last offset of the key that has a token after its first two."""
    end = len(row) if len(key) > _KEY_TOKENS * _ID_BYTES else len(row) - _ID_BYTES
    at = row.rfind(key, 0, max(0, end))
    while at > 0 and at % _ID_BYTES:  # a match across the borders of ids
        at = row.rfind(key, 0, at + len(key) - 1)
    return None if at < 0 else at
