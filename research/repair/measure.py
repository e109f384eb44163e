"""Repairs breakages in several ways, paired: each way gets the same breakages and the same model.

``whole`` is the product. ``rules`` takes the first edit by rules that parses, and asks no model;
``no refills`` has the model compare these edits, ``refills`` only what it writes itself;
``no test`` takes the first edit or refill that parses, however likely it is.
"""

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Literal

import msgspec

from intarsia.infill.filling.options import FillOptions
from intarsia.infill.repair.find_repair import Asking, find_repair
from intarsia.infill.repair.proposals_at import Found, find_proposals
from intarsia.infill.repair.refill import refills
from intarsia.infill.replacement import Replacement, with_replaced
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.parse import parse_afresh
from intarsia_research.repair.breakages import Breakage, has_same_code

Way = Literal["whole", "rules", "no refills", "refills", "no test"]
WAYS: tuple[Way, ...] = ("whole", "rules", "no refills", "refills", "no test")

Outcome = Literal["equal", "parses", "broken", "none"]


class RepairRow(msgspec.Struct, frozen=True, kw_only=True):
    """One breakage, repaired in one way. ``gain`` is in nats, where the model told it."""

    language: str
    path: str
    kind: str
    offset: int
    way: Way
    outcome: Outcome
    seconds: float
    reason: str | None = None
    gain: float | None = None


async def repair_all(
    asking: Asking, breakages: Sequence[Breakage], ways: Sequence[Way]
) -> AsyncIterator[RepairRow]:
    """Yield a row for each breakage and way."""
    for breakage in breakages:
        for way in ways:
            yield await _row(asking, breakage, way)


async def _row(asking: Asking, breakage: Breakage, way: Way) -> RepairRow:
    started, at = time.perf_counter(), breakage.offset
    found = find_proposals(breakage.broken, at, at, breakage.language)
    reason, gain, change = None, None, None
    if isinstance(found, NoSuggestion):
        reason = found.reason
    elif way in ("rules", "no test"):
        change = await _first(asking, found, may_refill=way == "no test")
    else:
        if way == "refills":
            found = replace(found, edits=())
        elif way == "no refills":
            found = replace(found, spans=(), lines=())
        repair = await find_repair(asking, found)
        if isinstance(repair, NoSuggestion):
            reason = repair.reason
        else:
            change, gain = repair.replacement, repair.gain
    return RepairRow(
        language=breakage.language.id,
        path=breakage.path,
        kind=breakage.kind,
        offset=at,
        way=way,
        outcome=outcome_of(breakage, change),
        seconds=time.perf_counter() - started,
        reason=reason,
        gain=gain,
    )


async def _first(asking: Asking, found: Found, *, may_refill: bool) -> Replacement | None:
    """Return the first edit that parses, in the order in which they are proposed."""
    if found.edits:
        return found.edits[0].replacement
    syntax, spans = found.syntax, [*found.spans, *found.lines] if may_refill else []
    async for edit in refills(asking.fill, syntax.text, spans, syntax.language, asking.options):
        if not isinstance(edit, NoSuggestion) and found.check.passes(edit):
            return edit.replacement
    return None


def outcome_of(breakage: Breakage, change: Replacement | None) -> Outcome:
    """Return what became of a breakage."""
    if change is None:
        return "none"
    repaired = with_replaced(breakage.broken, [change])
    if has_same_code(repaired, breakage.original):
        return "equal"
    syntax = parse_afresh(repaired, breakage.language)
    return "parses" if syntax and not syntax.tree.root_node.has_error else "broken"


def options_of(model: str | None) -> FillOptions:
    """Return the options of all refills."""
    return FillOptions(model=model, is_background=True)
