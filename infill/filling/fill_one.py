"""Fills one hole: plans it, asks the engine, and cleans the answer."""

import time
from dataclasses import dataclass

import msgspec

from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.infill.filling.attempts import ask_until_enough_pass
from intarsia.infill.filling.cost import EngineCost
from intarsia.infill.filling.options import AskEngine, FillOptions, OnStep
from intarsia.infill.filling.plan import FillPlan, plan_fill
from intarsia.infill.holes.hole import Hole
from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion, Suggestion


@dataclass(frozen=True, kw_only=True, slots=True)
class FillResult:
    """The engine's answer for one hole, and the suggestion that it gives (or why it gives none)."""

    hole: Hole
    suggestion: Suggestion | NoSuggestion
    filled: Filled
    cost: EngineCost  # of all answers, not only the one that is taken
    overhead_ms: float  # the wall time that was not the engine's


async def fill_hole(
    ask: AskEngine, text: str, hole: Hole, language: Language, options: FillOptions
) -> FillResult | NoSuggestion:
    """Fill a hole and clean the answer; return NoSuggestion where the engine gives no answer."""
    started = time.perf_counter()
    plan = plan_fill(text, hole, language, options)
    return await run_plan(ask, plan, plan.request(options), started=started)


async def run_plan(
    ask: AskEngine, plan: FillPlan, request: Fill, on_step: OnStep | None = None, *, started: float
) -> FillResult | NoSuggestion:
    """Send one of the plan's requests; if no candidate passes the filters, ask for an alternative.

    Return the first answer that passes, else the first answer. ``started`` is the perf_counter
    reading at which work on the plan began.
    """

    async def ask_for(alternative: int) -> Filled | NoSuggestion:
        return await ask(
            msgspec.structs.replace(request, alternative=request.alternative + alternative),
            on_step if alternative == 0 else None,  # the draft that is shown is not taken back
        )

    attempts = await ask_until_enough_pass(ask_for, plan.read, is_final=_is_final)
    if attempts.filled is None or attempts.cost is None:
        assert attempts.failure is not None, "without an answer there is a reason"
        return attempts.failure
    suggestion = attempts.passed[0] if attempts.passed else attempts.rejection
    assert suggestion is not None, "an answer passes or is rejected"
    return FillResult(
        hole=plan.hole,
        suggestion=suggestion,
        filled=attempts.filled,
        cost=attempts.cost,
        overhead_ms=(time.perf_counter() - started) * 1000 - attempts.cost.ms,
    )


def _is_final(answer: Filled) -> bool:
    """Whether the engine has compared several candidates already, or has no time left."""
    return bool(answer.others) or answer.finish_reason == "deadline"
