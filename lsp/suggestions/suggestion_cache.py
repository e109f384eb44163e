"""Suggestions made before, found again while the user types along them.

An entry is bound to the text before and after its cursor (by hash), so an edit anywhere else makes
it miss rather than answer wrongly. The entry found last is asked first: what is shown stays shown.
"""

from collections import OrderedDict
from dataclasses import dataclass
from functools import cache

from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.suggestions.ghost_text import GhostText


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """What is known for a cursor: best first. ``is_complete``: alternatives have been asked for."""

    ghosts: tuple[GhostText, ...] = ()
    is_complete: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    uri: str
    cursor: int
    before: int  # hash of the text before the cursor
    after: int  # hash of the text after it


class SuggestionCache:
    """The newest suggestions, least recently used dropped first."""

    def __init__(self, capacity: int = 200) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[_Place, Known] = OrderedDict()

    def store(self, snapshot: Snapshot, known: Known) -> None:
        text, offset = snapshot.text, snapshot.offset
        place = _Place(
            uri=snapshot.document.uri,
            cursor=offset,
            before=hash(text[:offset]),
            after=hash(text[offset:]),
        )
        self._entries[place] = known
        self._entries.move_to_end(place)
        if len(self._entries) > self._capacity:
            self._entries.popitem(last=False)

    def lookup(self, snapshot: Snapshot) -> Known:
        """Return what was suggested here, or further left and typed along since."""
        uri, text, offset = snapshot.document.uri, snapshot.text, snapshot.offset
        after = hash(text[offset:])
        before = cache(lambda cursor: hash(text[:cursor]))  # many entries have the same cursor
        for place, known in reversed(self._entries.items()):
            if place.uri != uri or place.after != after or place.cursor > offset:
                continue
            ghosts = _left_of(known, text[place.cursor : offset])
            if ghosts and place.before == before(place.cursor):
                self._entries.move_to_end(place)
                return Known(ghosts=ghosts, is_complete=known.is_complete)
        return Known()

    def clear(self) -> None:
        self._entries.clear()


def _left_of(known: Known, typed: str) -> tuple[GhostText, ...]:
    left = (ghost.typed_along(typed) for ghost in known.ghosts)
    return tuple(ghost for ghost in left if ghost is not None)
