"""A selection, filled as if nothing stood in it, or rewritten from what does."""

import time
from dataclasses import replace

from intarsia.filling.ask_engine import AskEngine
from intarsia.filling.fill_hole import FillOutcome, fill_planned
from intarsia.filling.fill_in_order import OnHoleStep, bound_to, fill_place
from intarsia.filling.filling import Filling
from intarsia.filling.options import FillOptions
from intarsia.filling.place import Stretch, open_place
from intarsia.filling.planned_fill import plan_fill
from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion

MAX_DRAFT_CHARS = 6_000
"""A longer selection is not rewritten: the model holds all of it in one canvas."""


async def fill_selection(
    ask: AskEngine,
    text: str,
    selection: Stretch,
    language: Language,
    options: FillOptions,
    on_step: OnHoleStep | None = None,
) -> Filling:
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
) -> Filling:
    """Mask a share ``noise`` (above 0 up to 1) of the selection's tokens, and settle them anew."""
    started = time.perf_counter()
    refusal = _why_no_rewrite(text[selection.start : selection.end])
    opened = refusal or open_place(selection, text, language)
    if isinstance(opened, NoSuggestion):
        return Filling(place=selection, text=text, shift=0, opened=None, outcome=opened)
    plan = plan_fill(opened.shown, opened.hole, language, options)
    request = plan.rewriting(options, noise, is_watched=on_step is not None)
    outcome = await fill_planned(ask, plan, request, bound_to(on_step, opened), started=started)
    return _unless_the_same(
        Filling(place=selection, text=text, shift=0, opened=opened, outcome=outcome)
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


def _unless_the_same(filling: Filling) -> Filling:
    """An edit that changes nothing is none."""
    change, outcome = filling.change, filling.outcome
    if change is None or filling.text[change.start : change.end] != change.new:
        return filling
    assert isinstance(outcome, FillOutcome), "a change comes from an outcome"
    same = NoSuggestion(reason="the model would write the same")
    return replace(filling, outcome=replace(outcome, found=same))
