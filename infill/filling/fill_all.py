"""Fills all holes of a text, or the places of all cursors, so that each fill fits the others.

The first sweep fills the holes in file order, each seeing the fills before it. The second sweep
fills every hole but the last again, now seeing all the others. Its text is taken only if it passes
the filters, the model is at least as sure of it, and it copies no other fill: a small model is
surest of what it copies.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from intarsia.infill.filling.options import FillContext
from intarsia.infill.filling.outcome import FilledPlace, FillResult, Place, open_place, run_in
from intarsia.infill.filling.plan import plan_placeholder
from intarsia.infill.holes.hole import OpenHole
from intarsia.infill.replacement import Moves, with_replaced
from intarsia.infill.suggestion import NoSuggestion


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
    plan = plan_placeholder(opened.shown, opened.hole, context.language, context.options, others)
    outcome = await run_in(context, plan, opened)
    return FilledPlace(place=place, text=text, shift=shift, opened=opened, outcome=outcome)


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
