"""Places of one text, filled in file order, each seeing the fills before it."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from intarsia.engine.ipc.messages import Step
from intarsia.infill.filling.fill_one import FillResult, run_plan
from intarsia.infill.filling.options import AskEngine, FillOptions, OnStep
from intarsia.infill.filling.outcome import FilledPlace
from intarsia.infill.filling.places import Place, Stretch, open_place
from intarsia.infill.filling.plan import plan_fill
from intarsia.infill.holes.hole import Hole
from intarsia.infill.holes.marked_hole import OpenHole
from intarsia.infill.languages import Language
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
) -> AsyncIterator[FilledPlace]:
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
) -> FilledPlace:
    """Fill a place of a text in which it has moved by ``shift``."""
    started = time.perf_counter()
    opened = open_place(place, text, language, shift=shift)
    if isinstance(opened, NoSuggestion):
        return FilledPlace(place=place, text=text, shift=shift, opened=None, outcome=opened)
    plan = plan_fill(opened.shown, opened.hole, language, options)
    num_candidates = options.num_candidates if isinstance(place, Stretch) else 1
    request = plan.request(options, num_candidates=num_candidates, is_watched=on_step is not None)
    watch = bound_to(on_step, opened)
    outcome = await run_plan(ask, plan, request, watch, started=started)
    return FilledPlace(place=place, text=text, shift=shift, opened=opened, outcome=outcome)


def bound_to(on_step: OnHoleStep | None, opened: OpenHole) -> OnStep | None:
    """Return what takes a step of the fill of this hole."""
    if on_step is None:
        return None
    return lambda step: on_step(opened.shown, opened.hole, step)


MAX_DRAFT_CHARS = 6_000
"""A longer selection is not rewritten: the model holds all of it in one canvas."""


async def fill_selection(
    ask: AskEngine,
    text: str,
    selection: Stretch,
    language: Language,
    options: FillOptions,
    on_step: OnHoleStep | None = None,
) -> FilledPlace:
    """Replace the selection by what the model writes between its surroundings."""
    return _unless_the_same(await fill_place(ask, text, selection, language, options, on_step))


async def rewrite_selection(
    ask: AskEngine,
    text: str,
    selection: Stretch,
    language: Language,
    options: FillOptions,
    noise: float,
    on_step: OnHoleStep | None = None,
) -> FilledPlace:
    """Mask a share ``noise`` (above 0 up to 1) of the selection's tokens, and settle them anew."""
    started = time.perf_counter()
    refusal = _why_no_rewrite(text[selection.start : selection.end])
    opened = refusal or open_place(selection, text, language)
    if isinstance(opened, NoSuggestion):
        return FilledPlace(place=selection, text=text, shift=0, opened=None, outcome=opened)
    plan = plan_fill(opened.shown, opened.hole, language, options)
    request = plan.rewrite_request(options, noise, is_watched=on_step is not None)
    outcome = await run_plan(ask, plan, request, bound_to(on_step, opened), started=started)
    return _unless_the_same(
        FilledPlace(place=selection, text=text, shift=0, opened=opened, outcome=outcome)
    )


def _why_no_rewrite(draft: str) -> NoSuggestion | None:
    if not draft.strip():
        return NoSuggestion(reason="nothing is selected that could be rewritten: select some code")
    if len(draft) > MAX_DRAFT_CHARS:
        return NoSuggestion(
            reason=f"the selection is too long to be rewritten: {len(draft):,} characters, and "
            f"{MAX_DRAFT_CHARS:,} are the most"
        )
    return None


def _unless_the_same(filling: FilledPlace) -> FilledPlace:
    """An edit that changes nothing is none."""
    change, outcome = filling.change, filling.outcome
    if change is None or filling.text[change.start : change.end] != change.new:
        return filling
    assert isinstance(outcome, FillResult), "a change comes from an outcome"
    same = NoSuggestion(reason="the model would write the same")
    return replace(filling, outcome=replace(outcome, found=same))
