"""The offers that are open in one document, and the places where the user wants none.

Both move with the text. An offer ends where its lines change, and all end where the edit changes
that they follow: a half-typed name is not offered any more once it goes on.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from intarsia.infill.next_edit.offer import Level, NextEditOffer
from intarsia.infill.syntax.text import line_start, replaced_range

MAX_DISMISSED = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenOffer:
    """``text`` is offered in the place of the document's ``[start:end]``, which are whole lines."""

    id: str
    start: int
    end: int
    text: str
    level: Level


@dataclass(frozen=True, kw_only=True, slots=True)
class _Change:
    """``[start:end]`` of a text became ``[start:new_end]``."""

    start: int
    end: int
    new_end: int


class OpenOffers:
    """The offers, best first, and the dismissed places as offsets, of one version of a text."""

    def __init__(self) -> None:
        self.offers: Sequence[OpenOffer] = ()
        self.dismissed: Sequence[tuple[int, int]] = ()
        self._edit: tuple[int, int] | None = None
        self._ids = itertools.count(1)

    def follow(self, edit: tuple[int, int] | None) -> None:
        """Set the lines of the edit that the offers follow, as offsets; None: in another text."""
        self._edit = edit

    @property
    def is_from_elsewhere(self) -> bool:
        """Whether the offers follow an edit of another text."""
        return self._edit is None

    def goes_on(self, before: str, after: str) -> bool:
        """Whether a change is one of the edit that the offers follow."""
        return self._edit is not None and _is_within(_change(before, after), self._edit, after)

    def put(self, offers: Iterable[NextEditOffer]) -> int:
        """Replace the offers; return how many are new. One that was open keeps its id.

        One at a dismissed place is left out: the user may have dismissed it during the search.
        """
        former = {(it.start, it.end, it.text): it.id for it in self.offers}
        self.offers = tuple(
            OpenOffer(
                id=former.get((it.start, it.end, it.text)) or str(next(self._ids)),
                start=it.start,
                end=it.end,
                text=it.text,
                level=it.level,
            )
            for it in offers
            if (it.start, it.end) not in self.dismissed
        )
        return sum(it.id not in former.values() for it in self.offers)

    def dismiss(self, id: str) -> bool:
        """Close an offer, for good at this place; return whether it was open."""
        offer = self.find(id)
        if offer is None:
            return False
        self.dismissed = (*self.dismissed, (offer.start, offer.end))[-MAX_DISMISSED:]
        self.offers = tuple(other for other in self.offers if other is not offer)
        return True

    def find(self, id: str) -> OpenOffer | None:
        """Return an open offer, None if it is not open any more."""
        return next((offer for offer in self.offers if offer.id == id), None)

    def change(self, before: str, after: str) -> Sequence[OpenOffer]:
        """Follow a change of the text; return the offers that it accepts, in the order of lines.

        The others move. Those are closed where something else has changed.
        """
        if not self.offers and not self.dismissed and self._edit is None:
            return ()
        change = _change(before, after)
        accepted = self._accepted(before, after)
        if not accepted and self._edit is not None and _is_within(change, self._edit, after):
            self.offers = ()
        others = [offer for offer in self.offers if offer not in accepted]
        self.offers = tuple(
            moved for offer in others if (moved := _moved_offer(offer, change, after, accepted))
        )
        self.dismissed = tuple(_widened(place, change) for place in self.dismissed)
        self._edit = None if self._edit is None else _widened(self._edit, change)
        return accepted

    def _accepted(self, before: str, after: str) -> Sequence[OpenOffer]:
        """Return the offers that together are the whole change."""
        accepted: list[OpenOffer] = []
        in_order = sorted(self.offers, key=lambda offer: offer.start)
        at = in_order[0].start if in_order else 0  # in the text after
        for offer, following in itertools.zip_longest(in_order, in_order[1:]):
            end = len(before) if following is None else following.start
            same, rest = before[offer.start : end], before[offer.end : end]
            if after.startswith(same, at):
                at += len(same)
            else:
                accepted.append(offer)
                at += len(offer.text) + len(rest)
        return accepted if accepted and _applied(before, accepted) == after else ()


def _change(before: str, after: str) -> _Change:
    start, end, new_end = replaced_range(before, after)
    return _Change(start=start, end=end, new_end=new_end)


def _applied(text: str, offers: Sequence[OpenOffer]) -> str:
    for offer in reversed(offers):
        text = text[: offer.start] + offer.text + text[offer.end :]
    return text


def _moved_offer(
    offer: OpenOffer, change: _Change, after: str, accepted: Sequence[OpenOffer]
) -> OpenOffer | None:
    """Return the offer in the text after a change, None where its lines have changed."""
    if accepted:  # these changed whole lines, and no others
        shift = sum(len(it.text) - (it.end - it.start) for it in accepted if it.end <= offer.start)
    elif offer.end < change.start or (offer.end == change.start and offer.start < offer.end):
        shift = 0
    elif offer.start >= change.end and offer.start > change.start:
        shift = change.new_end - change.end
    else:
        return None
    start, end = offer.start + shift, offer.end + shift
    if line_start(after, start) != start:  # it was joined to another line
        return None
    return replace(offer, start=start, end=end)


def _is_within(change: _Change, edit: tuple[int, int], after: str) -> bool:
    """Whether lines of the edit change; new lines above it are none of its own."""
    start, end = edit
    is_above = change.end == start and after[: change.new_end].endswith(("\n", "\r"))
    return change.start < end and change.end >= start and not is_above


def _widened(place: tuple[int, int], change: _Change) -> tuple[int, int]:
    """Return a place in the text after a change; one that the change touches holds it too."""
    start, end = place
    shift = change.new_end - change.end
    if end < change.start:
        return place
    if start > change.end:
        return start + shift, end + shift
    return min(start, change.start), max(end + shift, change.new_end)
