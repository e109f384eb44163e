"""Whether an accepted text is still there after half a minute, white space apart.

Its range follows all later changes. What is taken back before then was not wanted there.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from intarsia.infill.typing.change import TextChange, TextRange

KEPT_AFTER_S = 30.0
MAX_ACCEPTED = 200
"""Texts of one document that are followed at once."""


@dataclass(kw_only=True, slots=True, eq=False)
class _Accepted:
    place: TextRange
    text: str
    timer: asyncio.TimerHandle


class KeptTexts:
    """The accepted texts of one document. ``on_end`` gets whether one was kept."""

    def __init__(self, on_end: Callable[[bool], None], after_s: float = KEPT_AFTER_S) -> None:
        self._on_end = on_end
        self._after_s = after_s
        self._accepted: list[_Accepted] = []
        self._document = ""

    def add(self, place: TextRange, document: str) -> None:
        """Follow the accepted text at a place; it may be longer than what was accepted before."""
        self._document = document
        for known in [it for it in self._accepted if it.place.start == place.start]:
            self._drop(known)
        timer = asyncio.get_running_loop().call_later(self._after_s, self._end_first)
        text = document[place.start : place.end]
        self._accepted.append(_Accepted(place=place, text=text, timer=timer))
        if len(self._accepted) > MAX_ACCEPTED:
            self._end_first()

    def move(self, change: TextChange, document: str) -> bool:
        """Follow a change; return whether it takes all of an accepted text away."""
        self._document = document
        for accepted in self._accepted:
            accepted.place = accepted.place.after(change)
        gone = [it for it in self._accepted if it.place.start == it.place.end]
        for accepted in gone:
            self._drop(accepted)
            self._on_end(False)
        return bool(gone)

    def close(self) -> None:
        """Decide now, because the document is closed."""
        while self._accepted:
            self._end_first()

    def _end_first(self) -> None:
        accepted = self._accepted[0]
        self._drop(accepted)
        found = self._document[accepted.place.start : accepted.place.end]
        self._on_end(_without_blanks(accepted.text) in _without_blanks(found))

    def _drop(self, accepted: _Accepted) -> None:
        accepted.timer.cancel()
        self._accepted.remove(accepted)


def _without_blanks(text: str) -> str:
    return "".join(text.split())
