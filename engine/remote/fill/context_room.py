"""How much context is sent to a server, and where it may end."""

from intarsia.engine.remote.discovery.discover import Server

_SLOT_SHARE = 3 / 8
"""Of a slot, for prefix and suffix; half as much each for other files and for text after them."""


def context_room(server: Server, max_context_tokens: int) -> int:
    """Return the most tokens of prefix and suffix, at least 1."""
    if server.context_tokens is None:
        return max_context_tokens
    return min(max_context_tokens, max(int(server.context_tokens * _SLOT_SHARE), 1))


def num_before_characters(raw: bytes) -> int:
    """Return how many leading bytes are the end of a character that began before them."""
    return next(start for start in range(len(raw) + 1) if _is_utf8(raw[start:]))


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
