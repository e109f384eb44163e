"""How intarsia is asked, the same through the language server and straight.

Comes in: a case, fill options; goes out: the plan of its fill, the server's own options, and words
for a report.
"""

from dataclasses import replace
from typing import Any

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.options import FillOptions
from intarsia.infill.filling.plan import FillPlan, plan_at_cursor, plan_span_at_cursor
from intarsia.infill.languages import language_for
from intarsia.infill.suggestion import NoSuggestion
from intarsia.research.errors import EvaluationFault
from intarsia.research.evaluation.case import Case

PATIENT_MS = 60_000
"""The longest deadline that the server takes: the machine's load is not to cut a fill short."""

SLACK_S = 30.0
"""So long after its deadline a fill is given up."""


def plan_case(case: Case, options: FillOptions) -> FillPlan | NoSuggestion:
    """Plan the fill that an editor asks for: at the cursor, or of a range that the user names."""
    plan = plan_span_at_cursor if case.is_range else plan_at_cursor
    language = language_for(case.language, case.path)
    return plan(case.filled(""), len(case.prefix), language, options)


def patient(options: FillOptions) -> FillOptions:
    """Return the options with a deadline, and no help from the case before at the same place."""
    return replace(options, deadline_ms=options.deadline_ms or PATIENT_MS, is_fresh=True)


def server_options(options: FillOptions) -> dict[str, Any]:
    """Return the initialization options under which the server fills so.

    Raises EvaluationFault for what no editor can ask for.
    """
    deadline_ms = options.deadline_ms or PATIENT_MS
    if options != replace(options, seed=0, temperature=None, max_tokens=None, max_steps=None):
        raise EvaluationFault(
            "the language server takes no seed, temperature or limits: ask the engine straight"
        )
    if deadline_ms > PATIENT_MS:
        raise EvaluationFault(f"a deadline has {PATIENT_MS:,} ms at most, got {deadline_ms:,}")
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
        "excludeSecrets": False,  # who names a file to be measured on wants it to be filled
    }


def described(options: FillOptions) -> dict[str, str]:
    """Return what is said of the options in a report; what is not set is left out."""
    budget = options.budget
    said = {
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
    return {name: str(value) for name, value in said.items() if value is not None}


async def described_engine(address: Address | None) -> dict[str, str]:
    """Return what is said of the engine that runs there (None: the user's)."""
    async with EngineClient(name="eval", start=False, address=address) as client:
        status = await client.status()
    said = {
        "engine": status.build,
        "family": status.family,
        "device": status.device,
        "dtype": status.dtype,
        "notes": "; ".join(status.notes),
    }
    return {name: value for name, value in said.items() if value}
