"""One planned hole, filled: plan → engine → suggestion."""

import time
from dataclasses import dataclass

import msgspec

from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.filling.ask_engine import AskEngine, OnStep
from intarsia.filling.options import FillOptions
from intarsia.filling.planned_fill import SECOND_LOOKS, PlannedFill, plan_fill
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
    """Send one of the plan's requests, and its alternatives while no answer holds: the first that
    does counts, else the first. ``started``: perf_counter when the work on it began."""
    answers: list[tuple[Filled, Suggestion | NoSuggestion]] = []
    for look in range(1 + SECOND_LOOKS):
        alternative = request.alternative + look
        filled = await ask(
            msgspec.structs.replace(request, alternative=alternative),
            on_step if look == 0 else None,  # the draft that is shown is not put back
        )
        if isinstance(filled, NoSuggestion):
            if not answers:
                return filled
            break
        answers.append((filled, plan.read(filled)))
        if isinstance(answers[-1][1], Suggestion) or filled.finish_reason == "deadline":
            break
    engine_ms = sum(filled.ms.total for filled, _ in answers)
    holds = isinstance(answers[-1][1], Suggestion)
    filled, found = answers[-1] if holds else answers[0]
    return FillOutcome(
        hole=plan.hole,
        found=found,
        filled=filled,
        overhead_ms=(time.perf_counter() - started) * 1000 - engine_ms,
    )
