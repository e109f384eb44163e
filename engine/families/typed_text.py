"""How text that was written before goes on behind what the user has typed since.

Bytes come in and go out. Knows neither tokens nor a model.
"""

_TAIL = 64
"""Bytes before a hole by which its place is known again, whatever is edited further up."""

_LEAST = 8  # bytes: fewer stand anywhere
_MOST_TYPED = 200  # bytes, behind the place of another hole


def rest_behind(typed: bytes, written: bytes) -> bytes | None:
    """Return what follows in ``written`` behind ``typed``; None where they have little in common.

    Where a word differs (``totals`` for ``total``), what stands behind it may still be right.
    """
    i = j = 0
    while i < len(typed):
        if j < len(written) and typed[i] == written[j]:
            i, j = i + 1, j + 1
            continue
        is_in_word = _is_word(typed[i]) or (j < len(written) and _is_word(written[j]))
        if not is_in_word or j >= len(written):
            return None
        i, j = _word_end(typed, i), _word_end(written, j)
    return written[j:]


def typed_since(before: bytes, now: bytes) -> bytes | None:
    """Return what was typed between a hole and another one on its right; None: they are not at one
    place. Each is told by the text before it."""
    tail = before[-_TAIL:]
    if len(tail) < _LEAST and before != now[: len(before)]:
        return None
    at = now.rfind(tail, max(0, len(now) - _MOST_TYPED - len(tail)))
    return None if at < 0 else now[at + len(tail) :]


def _word_end(text: bytes, at: int) -> int:
    while at < len(text) and _is_word(text[at]):
        at += 1
    return at


def _is_word(byte: int) -> bool:
    return byte > 0x7F or byte == ord("_") or chr(byte).isalnum()
