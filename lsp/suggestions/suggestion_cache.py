"""A cache of suggestions, which are found again while the user types them.

An entry is keyed by hashes of the text before and after its cursor: after an edit elsewhere it no
longer matches. The entry used last is tried first, so that the shown suggestion stays.
"""

from collections import OrderedDict
from dataclasses import dataclass
from functools import cache

from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.suggestions.ghost_text import GhostText


@dataclass(frozen=True, kw_only=True, slots=True)
class CachedSuggestions:
    """The suggestions at a cursor, best first. ``is_complete``: alternatives were requested."""

    ghosts: tuple[GhostText, ...] = ()
    is_complete: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    uri: str
    cursor: int
    before: int  # hash of the text before the cursor
    after: int  # hash of the text after it


class SuggestionCache:
    """The newest suggestions; the least recently used are dropped first."""

    def __init__(self, capacity: int = 200) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[_Place, CachedSuggestions] = OrderedDict()

    def store(self, snapshot: Snapshot, suggestions: CachedSuggestions) -> None:
        text, offset = snapshot.text, snapshot.offset
        place = _Place(
            uri=snapshot.document.uri,
            cursor=offset,
            before=hash(text[:offset]),
            after=hash(text[offset:]),
        )
        self._entries[place] = suggestions
        self._entries.move_to_end(place)
        if len(self._entries) > self._capacity:
            self._entries.popitem(last=False)

    def lookup(self, snapshot: Snapshot) -> CachedSuggestions:
        """Return the suggestions made here, or made before text that was typed since."""
        uri, text, offset = snapshot.document.uri, snapshot.text, snapshot.offset
        after = hash(text[offset:])
        before = cache(lambda cursor: hash(text[:cursor]))  # many entries share a cursor
        for place, suggestions in reversed(self._entries.items()):
            if place.uri != uri or place.after != after or place.cursor > offset:
                continue
            ghosts = _after_typing(suggestions, text[place.cursor : offset])
            if ghosts and place.before == before(place.cursor):
                self._entries.move_to_end(place)
                return CachedSuggestions(ghosts=ghosts, is_complete=suggestions.is_complete)
        return CachedSuggestions()

    def clear(self) -> None:
        self._entries.clear()


def _after_typing(suggestions: CachedSuggestions, typed: str) -> tuple[GhostText, ...]:
    rests = (ghost.after_typing(typed) for ghost in suggestions.ghosts)
    return tuple(rest for rest in rests if rest is not None)
