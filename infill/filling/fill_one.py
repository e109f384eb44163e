"""Fills one hole: plans it, asks the engine, and cleans the answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.infill.filling.attempts import ask_until_enough_pass
from intarsia.infill.filling.cost import EngineCost
from intarsia.infill.filling.options import AskEngine, FillContext, OnStep, bind_step, with_project
from intarsia.infill.filling.plan import FillPlan
from intarsia.infill.holes.hole import Hole
from intarsia.infill.holes.marked_hole import OpenHole
from intarsia.infill.suggestion import NoSuggestion, Suggestion


@dataclass(frozen=True, kw_only=True, slots=True)
class FillResult:
    """The engine's answer for one hole, and the suggestion that it gives (or why it gives none)."""

    hole: Hole
    suggestion: Suggestion | NoSuggestion
    filled: Filled
    cost: EngineCost  # of all answers, not only the one that is taken


Check: TypeAlias = Callable[[Suggestion], Suggestion | NoSuggestion]
"""Returns a suggestion, or why it is not to be made."""


async def run_in(
    context: FillContext,
    plan: FillPlan,
    request: Fill,
    opened: OpenHole,
    check: Check | None = None,
) -> FillResult | NoSuggestion:
    """Run a plan with the code of other files that its hole needs."""
    request = await with_project(request, plan, context.find_project)
    return await run_plan(context.ask, plan, request, bind_step(context, opened), check)


async def run_plan(
    ask: AskEngine,
    plan: FillPlan,
    request: Fill,
    on_step: OnStep | None = None,
    check: Check | None = None,
) -> FillResult | NoSuggestion:
    """Send one of the plan's requests; if no candidate passes the filters, ask for an alternative.

    Return the first answer that passes, and ``check`` too, else the first answer.
    """

    def read(filled: Filled) -> Suggestion | NoSuggestion:
        suggestion = plan.read(filled)
        if check is None or isinstance(suggestion, NoSuggestion):
            return suggestion
        return check(suggestion)

    async def ask_for(alternative: int) -> Filled | NoSuggestion:
        return await ask(
            msgspec.structs.replace(request, alternative=request.alternative + alternative),
            on_step if alternative == 0 else None,  # the draft that is shown is not taken back
        )

    def is_final(answer: Filled) -> bool:
        """Whether the engine has compared several candidates already, or has no time left."""
        return bool(answer.others) or answer.finish_reason == "deadline"

    attempts = await ask_until_enough_pass(ask_for, read, is_final=is_final)
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
    )
