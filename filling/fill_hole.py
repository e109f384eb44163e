"""One planned hole, filled: plan → engine → suggestion."""

import time
from dataclasses import dataclass

from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.filling.ask_engine import AskEngine, OnStep
from intarsia.filling.options import FillOptions
from intarsia.filling.planned_fill import PlannedFill, plan_fill
from intarsia.infill.hole import Hole
from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion, Suggestion


@dataclass(frozen=True, kw_only=True, slots=True)
class FillOutcome:
    """What became of one hole. ``overhead_ms``: all that was not the engine's work."""

    hole: Hole
    found: Suggestion | NoSuggestion
    filled: Filled
    overhead_ms: float


async def fill_hole(
    ask: AskEngine, text: str, hole: Hole, language: Language, options: FillOptions
) -> FillOutcome | NoSuggestion:
    """Fill a hole and clean the answer; NoSuggestion where the engine gave none."""
    started = time.perf_counter()
    plan = plan_fill(text, hole, language, options)
    return await fill_planned(ask, plan, plan.request(options), started=started)


async def fill_planned(
    ask: AskEngine,
    plan: PlannedFill,
    request: Fill,
    on_step: OnStep | None = None,
    *,
    started: float,
) -> FillOutcome | NoSuggestion:
    """Send one of the plan's requests; ``started``: perf_counter when the work on it began."""
    filled = await ask(request, on_step)
    if isinstance(filled, NoSuggestion):
        return filled
    return FillOutcome(
        hole=plan.hole,
        found=plan.read(filled),
        filled=filled,
        overhead_ms=(time.perf_counter() - started) * 1000 - filled.ms.total,
    )
