"""Fills several places of one text, or writes, rewrites or documents a single selection.

Each function returns what became of a place. A place that gets no fill keeps its text. In file
order, each fill sees those before it. ``fill_all`` then fills every hole but the last again, now
seeing all the others. That text is taken only if it passes the filters, the model is at least as
sure of it, and it copies no other fill: a small model is surest of what it copies. A body that was
asked for is not filled again: the question shows none of the others.
"""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from intarsia.infill.filling.described_body import asking_for_body
from intarsia.infill.filling.outcome import (
    FilledPlace,
    FillResult,
    Place,
    Selection,
    open_place,
    run_in,
)
from intarsia.infill.filling.plan import FillContext, FillPlan, plan_fill, plan_placeholder
from intarsia.infill.holes.find_holes import undocumented
from intarsia.infill.holes.hole import OpenHole
from intarsia.infill.imports.unbound import lost_name
from intarsia.infill.replacement import Moves, Replacement, with_replaced
from intarsia.infill.suggestion import NoSuggestion, Suggestion

MAX_DRAFT_CHARS = 6_000
"""The longest selection that is rewritten: the model holds all of it in one canvas."""


async def fill_in_order(
    context: FillContext, text: str, places: Sequence[Place]
) -> AsyncIterator[FilledPlace]:
    """Fill one place after the other, each in the text that the fills before it leave."""
    current = text
    for place in places:
        filled_place = await fill_place(context, current, place, shift=len(current) - len(text))
        current = filled_place.result
        yield filled_place


async def fill_place(
    context: FillContext, text: str, place: Place, *, shift: int = 0
) -> FilledPlace:
    """Fill a place of a text in which it has moved by ``shift`` characters."""
    opened = open_place(place, text, context.language, shift=shift)
    if isinstance(opened, NoSuggestion):
        return FilledPlace(place=place, text=text, shift=shift, opened=None, outcome=opened)
    plan = asking_for_body(plan_fill(opened.hole, context.options), at_cursor=False)
    num_candidates = context.options.num_candidates if isinstance(place, Selection) else 1
    outcome = await run_in(context, plan, opened, num_candidates=num_candidates)
    return FilledPlace(place=place, text=text, shift=shift, opened=opened, outcome=outcome)


async def fill_selection(context: FillContext, text: str, selection: Selection) -> FilledPlace:
    """Replace the selection by what the model writes between its surroundings."""
    return _unless_unchanged(await fill_place(context, text, selection))


async def write_documentation(context: FillContext, text: str, within: Selection) -> FilledPlace:
    """Write one line of documentation for the function that a selection or cursor is in."""
    place = undocumented(text, within.start, within.end, context.language)
    opened = place if isinstance(place, NoSuggestion) else open_place(place, text, context.language)
    if isinstance(place, NoSuggestion) or isinstance(opened, NoSuggestion):
        why = opened if isinstance(opened, NoSuggestion) else place
        assert isinstance(why, NoSuggestion), "one of both is"
        return FilledPlace(place=within, text=text, shift=0, opened=None, outcome=why)
    plan = plan_fill(opened.hole, context.options)
    outcome = await run_in(context, plan, opened, check=_whole_sentences)
    return FilledPlace(place=place, text=text, shift=0, opened=opened, outcome=outcome)


_SENTENCES = re.compile(r".*[.!?](?=\s|$)")


def _whole_sentences(suggestion: Suggestion) -> Suggestion:
    """Leave out a sentence that would go on in another line; a single one stays."""
    whole = _SENTENCES.match(suggestion.text)
    return suggestion if whole is None else replace(suggestion, text=whole[0])


async def rewrite_selection(
    context: FillContext, text: str, selection: Selection, noise: float
) -> FilledPlace:
    """Mask a share ``noise`` (above 0, up to 1) of the selection's tokens and decode them again."""
    refusal = _why_no_rewrite(text[selection.start : selection.end])
    opened = refusal or open_place(selection, text, context.language)
    if isinstance(opened, NoSuggestion):
        return FilledPlace(place=selection, text=text, shift=0, opened=None, outcome=opened)
    plan = plan_fill(opened.hole, context.options)

    def keeps_names(suggestion: Suggestion) -> Suggestion | NoSuggestion:
        return _unless_name_is_lost(plan, suggestion)

    outcome = await run_in(context, plan, opened, noise=noise, check=keeps_names)
    return _unless_unchanged(
        FilledPlace(place=selection, text=text, shift=0, opened=opened, outcome=outcome)
    )


def _why_no_rewrite(draft: str) -> NoSuggestion | None:
    if not draft.strip():
        return NoSuggestion(reason="nothing to rewrite is selected: select some code")
    if len(draft) > MAX_DRAFT_CHARS:
        return NoSuggestion(
            reason=f"the selection is too long to be rewritten: {len(draft):,} characters, and "
            f"{MAX_DRAFT_CHARS:,} at most"
        )
    return None


def _unless_name_is_lost(plan: FillPlan, suggestion: Suggestion) -> Suggestion | NoSuggestion:
    change = Replacement(start=suggestion.start, end=suggestion.end, new=suggestion.text)
    name = lost_name(plan.text, change, plan.language)
    if name is None:
        return suggestion
    reason = f"`{name}`, which the selection defined and the file uses, would have no definition"
    return NoSuggestion(reason=reason)


def _unless_unchanged(filled_place: FilledPlace) -> FilledPlace:
    """Turn an edit that changes nothing into a reason."""
    change, outcome = filled_place.change, filled_place.outcome
    if change is None or filled_place.text[change.start : change.end] != change.new:
        return filled_place
    assert isinstance(outcome, FillResult), "only an answer makes a change"
    unchanged = NoSuggestion(reason="the model would write the same")
    return replace(filled_place, outcome=replace(outcome, suggestion=unchanged))


@dataclass(frozen=True, slots=True)
class FillProgress:
    """Which hole is being filled, in which sweep; both are counted from 1."""

    hole: int
    num_holes: int
    sweep: int
    num_sweeps: int

    @property
    def description(self) -> str:
        """Words for a progress bar."""
        text = f"hole {self.hole} of {self.num_holes}"
        return text if self.sweep == 1 else f"{text}, seeing all the others"

    @property
    def fraction(self) -> float:
        """The share of all fills that is done, from 0 to 1."""
        num_fills = self.num_sweeps * self.num_holes - (self.num_sweeps - 1)
        return ((self.sweep - 1) * self.num_holes + self.hole - 1) / num_fills


OnFillProgress: TypeAlias = Callable[[FillProgress], None]


async def fill_all(
    context: FillContext,
    text: str,
    holes: Sequence[Place],
    others: Sequence[Place] = (),
    *,
    num_sweeps: int = 2,
    on_progress: OnFillProgress | None = None,
) -> tuple[FilledPlace, ...]:
    """Return what became of each hole, in file order.

    ``others`` are holes that are not to be filled: the model sees neither them nor a hole that is
    not filled yet. Once the engine gives no answer, it is not asked again. The results read as if
    the holes had been filled one after the other: the text of each holds the fills before it.
    """
    state = _State(text, holes, others)
    for sweep in range(1, num_sweeps + 1):
        for index in range(len(holes) if sweep == 1 else len(holes) - 1):
            if on_progress is not None:
                on_progress(FillProgress(index + 1, len(holes), sweep, num_sweeps))
            new = await _fill(context, state, index)
            if new.opened is not None and isinstance(new.outcome, NoSuggestion):
                return state.give_up(new.outcome)
            is_copy = _new_text(new) in map(_new_text, state.filled_except(index))
            if _is_better(new, state.best[index], is_copy=is_copy):
                state.best[index] = new
    return state.in_order()


class _State:
    """The text while its holes are filled; ``best`` holds each hole's best fill so far."""

    def __init__(self, text: str, holes: Sequence[Place], others: Sequence[Place]) -> None:
        self.text = text
        self.holes = holes
        self.others = others
        self.best: list[FilledPlace | None] = [None] * len(holes)

    def filled_except(self, index: int) -> list[FilledPlace]:
        """Return what became of the other holes so far."""
        others = [*self.best[:index], *self.best[index + 1 :]]
        return [filled_place for filled_place in others if filled_place is not None]

    def unfilled_except(self, index: int) -> list[Place]:
        """Return the other holes without a fill, and those that are not to be filled."""
        unfilled = [
            hole
            for number, (hole, best) in enumerate(zip(self.holes, self.best, strict=True))
            if number != index and (best is None or best.change is None)
        ]
        return [*unfilled, *self.others]

    def give_up(self, why: NoSuggestion) -> tuple[FilledPlace, ...]:
        """Return the fills made so far, and the reason for each hole that has none."""
        for index, hole in enumerate(self.holes):
            if self.best[index] is None:
                self.best[index] = FilledPlace(
                    place=hole, text=self.text, shift=0, opened=None, outcome=why
                )
        return self.in_order()

    def in_order(self) -> tuple[FilledPlace, ...]:
        """Return the fills as if each had been made after those before it."""
        ordered: list[FilledPlace] = []
        current = self.text
        for best in self.best:
            if best is not None:
                ordered.append(best.moved_to(current, len(current) - len(self.text)))
                current = ordered[-1].result
        return tuple(ordered)


async def _fill(context: FillContext, state: _State, index: int) -> FilledPlace:
    """Fill one hole of the current text."""
    place = state.holes[index]
    changes = (it.replacement for it in state.filled_except(index))  # of the original text
    replacements = [change for change in changes if change is not None]
    text, moves = with_replaced(state.text, replacements), Moves(replacements)
    shift = moves.at(place.start)
    opened = open_place(place, text, context.language, shift=shift)
    if isinstance(opened, NoSuggestion):
        return FilledPlace(place=place, text=text, shift=shift, opened=None, outcome=opened)
    others = [_moved(other, moves, opened) for other in state.unfilled_except(index)]
    plan = plan_placeholder(opened.hole, context.options, others)
    plan, known = asking_for_body(plan, at_cursor=False), state.best[index]
    if known is not None and plan.asked is not None and _was_asked(known):
        return known  # the question would be the same
    outcome = await run_in(context, plan, opened)
    return FilledPlace(place=place, text=text, shift=shift, opened=opened, outcome=outcome)


def _was_asked(filled_place: FilledPlace) -> bool:
    outcome = filled_place.outcome
    return isinstance(outcome, FillResult) and outcome.filled.was_asked


def _moved(other: Place, moves: Moves, opened: OpenHole) -> tuple[int, int]:
    """Return the range of another hole in the text that shows the open hole."""
    shift = moves.at(other.start)
    if other.start + shift >= opened.end:
        shift += len(opened.before) + len(opened.after) - (opened.end - opened.start)
    return other.start + shift, other.end + shift


def _new_text(filled_place: FilledPlace) -> str | None:
    return None if filled_place.change is None else filled_place.change.new.strip()


def _is_better(new: FilledPlace, old: FilledPlace | None, *, is_copy: bool) -> bool:
    """Whether a fill replaces an older one: it passes, is no copy, and is at least as sure.

    One that is not known to be sure replaces none.
    """
    if old is None or old.change is None:
        return True
    if new.change is None or is_copy:
        return False
    assert isinstance(new.outcome, FillResult) and isinstance(old.outcome, FillResult)
    entropies = new.outcome.filled.mean_entropy, old.outcome.filled.mean_entropy
    return entropies[0] is not None and entropies[1] is not None and entropies[0] <= entropies[1]
