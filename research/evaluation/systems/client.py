"""What the language server and the direct client share: plans, options and descriptions.

Both must fill a case in the same way, so that their answers are equal.
"""

from dataclasses import replace
from typing import Any

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.described_body import asking_for_body
from intarsia.infill.filling.plan import FillOptions, FillPlan, plan_at_cursor, plan_fill
from intarsia.infill.holes.hole import hole_for_range
from intarsia.infill.languages import language_for
from intarsia.infill.suggestion import NoSuggestion
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.case import Case

PATIENT_MS = 60_000
"""The server's longest deadline, so that a busy machine does not cut a fill short."""

SLACK_S = 30.0
"""Time after its deadline when a fill is abandoned."""


def plan_case(case: Case, options: FillOptions, *, may_ask: bool = True) -> FillPlan | NoSuggestion:
    """Plan the fill that an editor asks for: at the cursor, or of a selected range.

    Without ``may_ask``, the body of a documented function is filled like any hole.
    """
    language, text = language_for(case.language, case.path), case.filled("")
    cursor = len(case.prefix)
    if not case.is_range:
        plan = plan_at_cursor(text, cursor, language, options)
        if isinstance(plan, NoSuggestion):
            return plan
    else:
        hole = hole_for_range(text, cursor, cursor, language)
        plan = replace(plan_fill(hole, options), cursor=cursor)
    return asking_for_body(plan, at_cursor=not case.is_range) if may_ask else plan


def patient(options: FillOptions) -> FillOptions:
    """Return the options with a deadline, and without a warm start from the case before."""
    return replace(options, deadline_ms=options.deadline_ms or PATIENT_MS, is_fresh=True)


def server_options(options: FillOptions) -> dict[str, Any]:
    """Return the initialization options that give the server the same settings.

    Raise EvaluationFault for options that the server does not have.
    """
    deadline_ms = options.deadline_ms or PATIENT_MS
    if options != replace(options, seed=0, temperature=None, max_tokens=None, max_steps=None):
        raise EvaluationFault(
            "the language server has no seed, temperature or limits: ask the engine directly"
        )
    if deadline_ms > PATIENT_MS:
        raise EvaluationFault(f"a deadline is at most {PATIENT_MS:,} ms, got {deadline_ms:,}")
    return {
        "model": options.model,
        "decoding": options.decoding,
        "editCandidates": options.num_candidates,
        "deadlineMs": deadline_ms,
        "invokedDeadlineMs": deadline_ms,
        "warmStart": not options.is_fresh,
        "debounceMs": 0,
        "maxPrefixTokens": options.budget.prefix_tokens,
        "maxSuffixTokens": options.budget.suffix_tokens,
        "maxHoleTokens": options.budget.hole_tokens,
        "drafts": False,
        "showThreshold": 0,  # what is measured is the text, however improbable
        "fillAhead": "off",  # no case follows from the one before
        "excludeSecrets": False,  # a file named for measuring is meant to be filled
        **WITHOUT_MANNERS,
    }


WITHOUT_MANNERS = {
    "inComments": "always",
    "inStrings": True,
    "onBattery": "same",
    "whenBusy": "same",
    "statistics": False,
}
"""Settings under which each request is answered as well as it can be: no user is disturbed."""


def described(options: FillOptions) -> dict[str, str]:
    """Return the options that are set, for a report."""
    budget = options.budget
    description = {
        "decoding": options.decoding,
        "deadline_ms": options.deadline_ms,
        "prefix_tokens": budget.prefix_tokens,
        "suffix_tokens": budget.suffix_tokens,
        "hole_tokens": budget.hole_tokens,
        "edit_candidates": options.num_candidates,
        "seed": options.seed or None,
        "temperature": options.temperature,
        "max_tokens": options.max_tokens,
        "max_steps": options.max_steps,
    }
    return {name: str(value) for name, value in description.items() if value is not None}


async def described_engine(address: Address | None) -> dict[str, str]:
    """Return the engine's version and settings, for a report. None: the user's engine."""
    async with EngineClient(name="eval", start=False, address=address) as client:
        status = await client.status()
    description = {
        "engine": status.build,
        "family": status.family,
        "device": status.device,
        "dtype": status.dtype,
        "notes": "; ".join(status.notes),
    }
    return {name: value for name, value in description.items() if value}
