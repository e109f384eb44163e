"""Chooses the repair of one place: an edit that parses, and that the model finds likelier.

Edits by rules are compared first. Only where none is clearly likelier, the model refills a token,
and where nothing helps, a line. Of edits that are about as likely the smallest is taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.infill.filling.options import AskEngine, FillOptions
from intarsia.infill.repair.likelihood import AskScores, score_request, within_reach
from intarsia.infill.repair.proposals import EditKind, Proposal
from intarsia.infill.repair.proposals_at import Found, Span
from intarsia.infill.repair.refill import refills
from intarsia.infill.replacement import Replacement
from intarsia.infill.suggestion import NoSuggestion

LEAST_GAIN = 2.0
"""Nats by which a repair must be likelier than the text that is there."""

CLEAR_GAIN = 8.0
"""Nats above which no refill is asked for: edits by rules that gain this much are mostly right."""

ABOUT_AS_LIKELY = 0.7
"""Nats: a smaller edit that gains this much less is preferred."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Repair:
    """``replacement`` repairs a text, which it makes likelier by ``gain`` nats."""

    replacement: Replacement
    kind: EditKind
    gain: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Asking:
    """How the engine is asked to fill a span, and for likelihoods."""

    fill: AskEngine
    scores: AskScores
    options: FillOptions


async def find_repair(asking: Asking, found: Found) -> Repair | NoSuggestion:
    """Return the repair of a place, or why there is none."""
    best = await _likeliest(asking, found, found.edits)
    if isinstance(best, NoSuggestion):
        return best
    for spans in (found.spans, found.lines):
        if best is not None and (spans is found.lines or best.gain >= CLEAR_GAIN):
            break
        refilled = await _refilled(asking, found, spans)
        if isinstance(refilled, NoSuggestion):
            return best or refilled
        other = await _likeliest(asking, found, refilled)
        if isinstance(other, NoSuggestion):
            return best or other
        best = _better(best, other)
    return best or _why_none(found)


def _why_none(found: Found) -> NoSuggestion:
    if not (found.edits or found.spans):
        return NoSuggestion(reason="no small edit makes the file parse better")
    return NoSuggestion(reason="no edit that parses is likelier than the text that is there")


def _better(one: Repair | None, other: Repair | None) -> Repair | None:
    if one is None or other is None:
        return one or other
    return max(one, other, key=lambda it: it.gain)


async def _refilled(
    asking: Asking, found: Found, spans: Sequence[Span]
) -> list[Proposal] | NoSuggestion:
    """Return the refills that parse; the reason where the engine gives no answer."""
    passed: list[Proposal] = []
    syntax = found.syntax
    async for edit in refills(asking.fill, syntax.text, spans, syntax.language, asking.options):
        if isinstance(edit, NoSuggestion):
            return passed or edit
        if found.check.passes(edit):
            passed.append(edit)
    return passed


async def _likeliest(
    asking: Asking, found: Found, edits: Sequence[Proposal]
) -> Repair | NoSuggestion | None:
    """Return the edit that gains most; None if none gains enough."""
    text = found.syntax.text
    edits = within_reach(edits)
    if not edits:
        return None
    answer = await asking.scores(score_request(text, edits, asking.options.model))
    if isinstance(answer, NoSuggestion):
        return answer
    gains = [
        (gain, edit)
        for gain, edit in zip(answer.gains, edits, strict=True)
        if gain is not None and gain >= LEAST_GAIN
    ]
    if not gains:
        return None
    for gain, edit in _preferred_first(gains):
        if found.check.passes_afresh(edit):
            return Repair(replacement=edit.replacement, kind=edit.kind, gain=gain)
    return None


def _preferred_first(gains: Sequence[tuple[float, Proposal]]) -> list[tuple[float, Proposal]]:
    """Return edits by their gain; of those that gain about as much as the best, by their size."""
    least = max(gain for gain, _ in gains) - ABOUT_AS_LIKELY

    def order(it: tuple[float, Proposal]) -> tuple[bool, int, float]:
        gain, edit = it
        is_likely = gain >= least
        return not is_likely, edit.num_changed if is_likely else 0, -gain

    return sorted(gains, key=order)
