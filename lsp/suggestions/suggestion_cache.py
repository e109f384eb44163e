"""A cache of suggestions, which are found again while the user types them.

An entry is keyed by hashes of the text before and after its cursor: after an edit elsewhere it no
longer matches. The entry used last is tried first, so that the shown suggestion stays.
"""

from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import cache

from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.suggestions.ghost_text import GhostText


@dataclass(frozen=True, kw_only=True, slots=True)
class CachedSuggestions:
    """The suggestions at a cursor, best first. ``is_complete``: alternatives were requested.

    ``reason`` says why there are none at this very cursor. ``ahead_s``: the seconds of a fill ahead
    of the user, until it answers a request.
    """

    ghosts: tuple[GhostText, ...] = ()
    is_complete: bool = False
    reason: str | None = None
    ahead_s: float | None = None

    def after_typing(self, typed: str) -> "CachedSuggestions | None":
        """Return the rests of those that start with ``typed``; None where nothing is known."""
        rests = (ghost.after_typing(typed) for ghost in self.ghosts)
        ghosts = tuple(rest for rest in rests if rest is not None)
        if ghosts:
            return replace(self, ghosts=ghosts)
        return self if self.reason is not None and not typed else None


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

    def has(self, snapshot: Snapshot) -> bool:
        """Whether something is known of this very cursor."""
        return _place_of(snapshot) in self._entries

    def store(self, snapshot: Snapshot, suggestions: CachedSuggestions) -> None:
        place = _place_of(snapshot)
        self._entries[place] = suggestions
        self._entries.move_to_end(place)
        if len(self._entries) > self._capacity:
            self._entries.popitem(last=False)

    def lookup(self, snapshot: Snapshot) -> CachedSuggestions:
        """Return the suggestions made here, or made before text that was typed since.

        That nothing fits here counts only if none of the suggestions goes on. What was asked ahead
        of the user is so only the first time.
        """
        uri, text, offset = snapshot.document.uri, snapshot.text, snapshot.offset
        after = hash(text[offset:])
        before = cache(lambda cursor: hash(text[:cursor]))  # many entries share a cursor
        best: tuple[_Place, CachedSuggestions] | None = None
        for place, suggestions in reversed(self._entries.items()):
            if place.uri != uri or place.after != after or place.cursor > offset:
                continue
            found = suggestions.after_typing(text[place.cursor : offset])
            if found is not None and place.before == before(place.cursor):
                best = best if best and not found.ghosts else (place, found)
                if found.ghosts:
                    break
        if best is None:
            return CachedSuggestions()
        self._entries[best[0]] = replace(self._entries[best[0]], ahead_s=None)
        self._entries.move_to_end(best[0])
        return best[1]

    def clear(self) -> None:
        self._entries.clear()

    def forget(self, uri: str) -> None:
        """Forget the suggestions in a document."""
        for place in [it for it in self._entries if it.uri == uri]:
            del self._entries[place]


def _place_of(snapshot: Snapshot) -> _Place:
    text, offset = snapshot.text, snapshot.offset
    return _Place(
        uri=snapshot.document.uri,
        cursor=offset,
        before=hash(text[:offset]),
        after=hash(text[offset:]),
    )
