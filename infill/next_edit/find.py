"""Asks the engine what an edit has left to change: below the edit first, then above it.

The likeliest place comes first, and alone: so a user sees it soon. Further places follow only where
it is offered.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from intarsia.engine.ipc.messages import FindNextEdits, NextEdits
from intarsia.infill.next_edit.offer import NextEditOffer, best_first, read_offer
from intarsia.infill.next_edit.plan import Direction, NextEditPlan
from intarsia.infill.next_edit.show_rule import Level, is_shown
from intarsia.infill.suggestion import NoSuggestion

AskNextEdits: TypeAlias = Callable[[FindNextEdits], Awaitable[NextEdits | NoSuggestion]]
"""Sends the request and waits for the answer. Where there is none, returns the reason or raises."""

MAX_PLACES = 2
"""Corrected at most, where the first one is offered."""

_DIRECTIONS: tuple[Direction, ...] = ("below", "above")


@dataclass(frozen=True, kw_only=True, slots=True)
class NextEditResult:
    """The offers, best first; where there are none, ``reason`` says why."""

    offers: tuple[NextEditOffer, ...] = ()
    reason: str | None = None
    ms: float = 0.0  # in the engine, so far


async def find_offers(
    ask: AskNextEdits, plan: NextEditPlan, level: Level, model: str | None = None
) -> AsyncIterator[NextEditResult]:
    """Yield what to offer at this level: the likeliest place, then it again with further ones.

    The text above is searched if there is nothing below. Renamed uses are known without the engine.
    """
    reason, ms = "no other line may change", 0.0
    for direction in _DIRECTIONS:
        if not plan.has_lines(direction):
            continue
        num_offers = 0
        for max_places in (1, MAX_PLACES):
            answer = await ask(plan.request(direction, model, max_places=max_places))
            if isinstance(answer, NoSuggestion):
                if not num_offers:
                    yield NextEditResult(reason=answer.reason, ms=ms)
                return
            ms += answer.ms
            read = [read_offer(plan, edit) for edit in answer.edits]
            offers = best_first(it for it in _offers(read) if is_shown(it.level, level))
            if len(offers) <= num_offers:
                break
            num_offers = len(offers)
            yield NextEditResult(offers=offers, ms=ms)
        if num_offers:
            return
        reason = _why_none(read)
    yield NextEditResult(reason=reason, ms=ms)


def _offers(read: list[NextEditOffer | NoSuggestion]) -> Iterator[NextEditOffer]:
    return (it for it in read if not isinstance(it, NoSuggestion))


def _why_none(read: list[NextEditOffer | NoSuggestion]) -> str:
    """Return why an answer without an offer at the chosen level has none."""
    if not read:
        return "every other line fits the edit, or no correction was found"
    for it in read:
        if isinstance(it, NoSuggestion):
            return it.reason
    return "the corrections are not sure enough for this level"
