"""One planned hole, filled: plan → engine → suggestion."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.infill.filling.cost import EngineCost
from intarsia.infill.filling.options import AskEngine, FillOptions, OnStep
from intarsia.infill.filling.plan import EXTRA_ATTEMPTS, PlannedFill, plan_fill
from intarsia.infill.holes.hole import Hole
from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion, Suggestion


@dataclass(frozen=True, kw_only=True, slots=True)
class FillResult:
    """What became of one hole. ``work`` is of all its fills; ``overhead_ms`` all that was not."""

    hole: Hole
    found: Suggestion | NoSuggestion
    filled: Filled
    work: EngineCost
    overhead_ms: float


async def fill_hole(
    ask: AskEngine, text: str, hole: Hole, language: Language, options: FillOptions
) -> FillResult | NoSuggestion:
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
) -> FillResult | NoSuggestion:
    """Send one of the plan's requests, and its alternatives while no answer holds and none came
    with others: the first that holds counts, else the first. ``started``: perf_counter when the
    work on it began."""
    answers: list[tuple[Filled, Suggestion | NoSuggestion]] = []
    work = EngineCost()
    for look in range(1 + EXTRA_ATTEMPTS):
        alternative = request.alternative + look
        filled = await ask(
            msgspec.structs.replace(request, alternative=alternative),
            on_step if look == 0 else None,  # the draft that is shown is not put back
        )
        if isinstance(filled, NoSuggestion):
            if not answers:
                return filled
            break
        work = work.and_then(filled)
        answers.append(best_that_holds(filled, plan.read))
        has_looked = bool(filled.others) or filled.finish_reason == "deadline"
        if has_looked or isinstance(answers[-1][1], Suggestion):
            break
    holds = isinstance(answers[-1][1], Suggestion)
    filled, found = answers[-1] if holds else answers[0]
    return FillResult(
        hole=plan.hole,
        found=found,
        filled=filled,
        work=work,
        overhead_ms=(time.perf_counter() - started) * 1000 - work.ms,
    )


def best_that_holds(
    filled: Filled, read: Callable[[Filled], Suggestion | NoSuggestion]
) -> tuple[Filled, Suggestion | NoSuggestion]:
    """Return the best of an answer's candidates that holds, else the best of all."""
    best = filled, read(filled)
    if isinstance(best[1], Suggestion):
        return best
    for other in filled.others:
        answer = msgspec.structs.replace(filled, others=(), **msgspec.structs.asdict(other))
        found = read(answer)
        if isinstance(found, Suggestion):
            return answer, found
    return best
