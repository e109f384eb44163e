"""All holes of a text, filled so that each is aware of the others.

The first sweep goes in file order, each hole seeing the fills before it. In the second one every
hole but the last is filled again, seeing all the others; the new text is taken only when it is
clean, the model is at least as sure of it, and it is no copy of another fill: a small model is
surest of what it copies.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from intarsia.infill.filling.fill_in_order import OnHoleStep, bound_to
from intarsia.infill.filling.fill_one import FillResult, run_plan
from intarsia.infill.filling.options import AskEngine, FillOptions
from intarsia.infill.filling.outcome import FilledPlace
from intarsia.infill.filling.places import open_place
from intarsia.infill.filling.plan import plan_placeholder
from intarsia.infill.filling.replacement import Moves, Replacement, with_replaced
from intarsia.infill.holes.marked_hole import MarkedHole, OpenHole
from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion


@dataclass(frozen=True, slots=True)
class Progress:
    """The hole whose turn it is, from 1, in which sweep of how many, from 1."""

    hole: int
    num_holes: int
    sweep: int
    num_sweeps: int

    @property
    def in_words(self) -> str:
        words = f"hole {self.hole} of {self.num_holes}"
        return words if self.sweep == 1 else f"{words}, seeing all the others"

    @property
    def share(self) -> float:
        """How much of all the work is done, 0 to 1."""
        num_fills = self.num_sweeps * self.num_holes - (self.num_sweeps - 1)
        return ((self.sweep - 1) * self.num_holes + self.hole - 1) / num_fills


OnProgress: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class FillAll:
    """How all holes are filled."""

    ask: AskEngine
    language: Language
    options: FillOptions
    num_sweeps: int = 2  # 1: the second sweep is left out
    on_progress: OnProgress | None = None
    on_step: OnHoleStep | None = None


async def fill_all(
    how: FillAll, text: str, holes: Sequence[MarkedHole], others: Sequence[MarkedHole] = ()
) -> tuple[FilledPlace, ...]:
    """Return what became of each hole, in file order as they are.

    ``others`` ask for a fill as well, but get none; the model sees none of them, nor any hole that
    is not filled yet. Where the engine gives no answer, no more is asked of it. The fillings come
    as if they had been made one after the other: the text of each holds those before it.
    """
    state = _State(text, holes, others)
    for sweep in range(1, how.num_sweeps + 1):
        for number in range(len(holes) if sweep == 1 else len(holes) - 1):
            if how.on_progress is not None:
                how.on_progress(Progress(number + 1, len(holes), sweep, how.num_sweeps))
            new = await _fill(how, state, number)
            if new.opened is not None and isinstance(new.outcome, NoSuggestion):
                return state.given_up(new.outcome)
            is_copy = _written(new) in map(_written, state.fillings_but(number))
            if _is_better(new, state.fillings[number], is_copy=is_copy):
                state.fillings[number] = new
    return state.in_order()


class _State:
    """The text while its holes are filled. ``fillings``: of each hole the best one so far."""

    def __init__(
        self, text: str, holes: Sequence[MarkedHole], others: Sequence[MarkedHole]
    ) -> None:
        self.text = text
        self.holes = holes
        self.others = others
        self.fillings: list[FilledPlace | None] = [None] * len(holes)

    def fillings_but(self, number: int) -> list[FilledPlace]:
        """Return what became of the other holes so far."""
        return [it for at, it in enumerate(self.fillings) if at != number and it is not None]

    def replacements_but(self, number: int) -> list[Replacement]:
        """Return all fills but that of one hole."""
        changes = [filling.replacement for filling in self.fillings_but(number)]
        return [change for change in changes if change is not None]

    def unwritten_but(self, number: int) -> list[MarkedHole]:
        """Return the holes that have no fill, and the others."""
        unfilled = [
            hole
            for at, (hole, filling) in enumerate(zip(self.holes, self.fillings, strict=True))
            if at != number and (filling is None or filling.change is None)
        ]
        return [*unfilled, *self.others]

    def given_up(self, why: NoSuggestion) -> tuple[FilledPlace, ...]:
        """Return what there is; what was not filled was not for this reason."""
        for number, hole in enumerate(self.holes):
            if self.fillings[number] is None:
                self.fillings[number] = FilledPlace(
                    place=hole, text=self.text, shift=0, opened=None, outcome=why
                )
        return self.in_order()

    def in_order(self) -> tuple[FilledPlace, ...]:
        ordered: list[FilledPlace] = []
        now = self.text
        for filling in self.fillings:
            if filling is not None:
                ordered.append(filling.moved_to(now, len(now) - len(self.text)))
                now = ordered[-1].result
        return tuple(ordered)


async def _fill(how: FillAll, state: _State, number: int) -> FilledPlace:
    """Fill one hole of the text as it is by now."""
    started = time.perf_counter()
    place, replacements = state.holes[number], state.replacements_but(number)
    text, moves = with_replaced(state.text, replacements), Moves(replacements)
    shift = moves.at(place.start)
    opened = open_place(place, text, how.language, shift=shift)
    if isinstance(opened, NoSuggestion):
        return FilledPlace(place=place, text=text, shift=shift, opened=None, outcome=opened)
    others = [_moved(it, moves, opened) for it in state.unwritten_but(number)]
    plan = plan_placeholder(opened.shown, opened.hole, how.language, how.options, others)
    request = plan.request(how.options, is_watched=how.on_step is not None)
    watch = bound_to(how.on_step, opened)
    outcome = await run_plan(how.ask, plan, request, watch, started=started)
    return FilledPlace(place=place, text=text, shift=shift, opened=opened, outcome=outcome)


def _moved(other: MarkedHole, moves: Moves, opened: OpenHole) -> tuple[int, int]:
    """Return where another hole stands in the text in which this one is open."""
    by = moves.at(other.start)
    if other.start + by >= opened.end:
        by += len(opened.before) + len(opened.after) - (opened.end - opened.start)
    return other.start + by, other.end + by


def _written(filling: FilledPlace) -> str | None:
    return None if filling.change is None else filling.change.new.strip()


def _is_better(new: FilledPlace, old: FilledPlace | None, *, is_copy: bool) -> bool:
    """Whether a fill takes the place of an older one: clean, no copy, and at least as sure."""
    if old is None or old.change is None:
        return True
    if new.change is None or is_copy:
        return False
    assert isinstance(new.outcome, FillResult) and isinstance(old.outcome, FillResult)
    return new.outcome.filled.mean_entropy <= old.outcome.filled.mean_entropy
