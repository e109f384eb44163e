"""Places of one text, filled in file order, each seeing the fills before it."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TypeAlias

from intarsia.engine.ipc.messages import Step
from intarsia.filling.ask_engine import AskEngine, OnStep
from intarsia.filling.fill_hole import fill_planned
from intarsia.filling.filling import Filling
from intarsia.filling.options import FillOptions
from intarsia.filling.place import Place, Stretch, open_place
from intarsia.filling.planned_fill import plan_fill
from intarsia.infill.hole import Hole
from intarsia.infill.languages import Language
from intarsia.infill.marked_hole import OpenHole
from intarsia.infill.suggestion import NoSuggestion

OnHoleStep: TypeAlias = Callable[[str, Hole, Step], None]
"""Called with the text as the engine sees it, the hole in it, and a step of its fill."""


async def fill_in_order(
    ask: AskEngine,
    text: str,
    places: Sequence[Place],
    language: Language,
    options: FillOptions,
    on_step: OnHoleStep | None = None,
) -> AsyncIterator[Filling]:
    """Fill one place after the other; a place that gets no fill stays as it is."""
    now = text
    for place in places:
        shift = len(now) - len(text)
        filling = await fill_place(ask, now, place, language, options, on_step, shift=shift)
        now = filling.result
        yield filling


async def fill_place(
    ask: AskEngine,
    text: str,
    place: Place,
    language: Language,
    options: FillOptions,
    on_step: OnHoleStep | None = None,
    *,
    shift: int = 0,
) -> Filling:
    """Fill a place of a text in which it has moved by ``shift``."""
    started = time.perf_counter()
    opened = open_place(place, text, language, shift=shift)
    if isinstance(opened, NoSuggestion):
        return Filling(place=place, text=text, shift=shift, opened=None, outcome=opened)
    plan = plan_fill(opened.shown, opened.hole, language, options)
    num_candidates = options.num_candidates if isinstance(place, Stretch) else 1
    request = plan.request(options, num_candidates=num_candidates, is_watched=on_step is not None)
    watch = bound_to(on_step, opened)
    outcome = await fill_planned(ask, plan, request, watch, started=started)
    return Filling(place=place, text=text, shift=shift, opened=opened, outcome=outcome)


def bound_to(on_step: OnHoleStep | None, opened: OpenHole) -> OnStep | None:
    """Return what takes a step of the fill of this hole."""
    if on_step is None:
        return None
    return lambda step: on_step(opened.shown, opened.hole, step)
