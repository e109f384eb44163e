"""Suggestions made before, found again while the user types along them.

An entry is bound to the text before and after its cursor (by hash), so an edit anywhere else makes
it miss rather than answer wrongly. The entry found last is asked first: what is shown stays shown.
"""

from collections import OrderedDict
from dataclasses import dataclass

from intarsia.lsp.ghost_text import typed_along
from intarsia.lsp.snapshot import Snapshot


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """What is known for a cursor: best first. ``is_complete``: alternatives have been asked for."""

    ghosts: tuple[str, ...] = ()
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
        place = _place(snapshot, snapshot.offset, hash(snapshot.text[snapshot.offset :]))
        self._entries[place] = known
        self._entries.move_to_end(place)
        if len(self._entries) > self._capacity:
            self._entries.popitem(last=False)

    def lookup(self, snapshot: Snapshot) -> Known:
        """Return what was suggested here, or further left and typed along since."""
        after = hash(snapshot.text[snapshot.offset :])
        for place, known in reversed(self._entries.items()):
            if place.after != after or place.cursor > snapshot.offset:
                continue
            ghosts = _left_of(known, snapshot.text[place.cursor : snapshot.offset])
            if ghosts and place == _place(snapshot, place.cursor, after):
                self._entries.move_to_end(place)
                return Known(ghosts=ghosts, is_complete=known.is_complete)
        return Known()

    def clear(self) -> None:
        self._entries.clear()


def _place(snapshot: Snapshot, cursor: int, after: int) -> _Place:
    before = hash(snapshot.text[:cursor])
    return _Place(uri=snapshot.document.uri, cursor=cursor, before=before, after=after)


def _left_of(known: Known, typed: str) -> tuple[str, ...]:
    left = (typed_along(ghost, typed) for ghost in known.ghosts)
    return tuple(ghost for ghost in left if ghost is not None)
