"""Where a request's context ends: prefix and suffix come in, the context to open goes out.

A causal backbone reads prefix, suffix, hole, in this order: a prefix that has grown moves the
suffix, which would be read again at every key. So the context ends further up, at its *anchor*, the
start of a line; what stands from there to the hole goes behind the suffix, where text grows and
shrinks at no one's cost. The anchor stays while the user works on a few lines. Knows no model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

MAX_CHARS_BEHIND = 400
"""Of more text behind it (about a hundred tokens) an anchor is given up for a nearer one."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Anchor:
    """A context that is worth opening again. ``prefix`` is the text up to where it ends."""

    prefix: str
    suffix: str
    context: Sequence[int]  # token ids of both, marked; the hole follows

    def behind(self, prefix: str) -> str | None:
        """Return what stands between the anchor and the end of this prefix; None: it is no use."""
        behind = prefix[len(self.prefix) :]
        is_near = len(behind) <= MAX_CHARS_BEHIND and prefix.startswith(self.prefix)
        # A line end right behind it would be one token with the line end before it.
        return behind if is_near and not _begins_blank(behind) else None


_MAX_CHARS_HELD = 200_000
"""The text round one anchor: far more than a context holds."""


class Found(NamedTuple):
    """An anchor, and the text between it and the hole."""

    anchor: Anchor
    behind: str


class Anchors:
    """The anchors used last."""

    def __init__(self, *, most: int = 32) -> None:
        self._held: list[Anchor] = []  # used last comes last
        self._most = most

    def find(self, prefix: str, suffix: str) -> Found | None:
        """Return the nearest anchor before the end of this prefix."""
        found = [
            Found(anchor, behind)
            for anchor in self._held
            if anchor.suffix == suffix and (behind := anchor.behind(prefix)) is not None
        ]
        if not found:
            return None
        nearest = min(found, key=lambda it: len(it.behind))
        self._held.remove(nearest.anchor)
        self._held.append(nearest.anchor)
        return nearest

    def hold(self, anchor: Anchor) -> None:
        """Remember an anchor; the one that was not used for longest is forgotten."""
        if len(anchor.prefix) + len(anchor.suffix) <= _MAX_CHARS_HELD:
            self._held = [*self._held[-self._most + 1 :], anchor]


def anchor_offset(prefix: str) -> int | None:
    """Return where in this prefix a new anchor stands: at the start of the last line above the
    hole's own that is not blank, or of the hole's own. None where it would be far off, or where
    nothing would be left before it: the context then ends where the hole begins.

    The line above goes behind the anchor too: what is typed next often changes it, and a line end
    is read together with the blank line after it.
    """
    own = prefix.rfind("\n") + 1
    above = prefix.rfind("\n", 0, len(prefix[:own].rstrip())) + 1
    for offset in (above, own):
        is_near = len(prefix) - offset <= MAX_CHARS_BEHIND // 2
        if offset and is_near and not _begins_blank(prefix[offset:]):
            return offset
    return None


def _begins_blank(text: str) -> bool:
    return "\n" in text[: len(text) - len(text.lstrip())]
