"""Chooses the repair of one place: an edit that parses, and that the model finds likelier.

Edits by rules are compared first. Only where none is clearly likelier, the model refills a token,
and where nothing helps, a line. Of edits that are about as likely the smallest is taken.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from intarsia.engine.ipc.messages import Filled, ScoreTexts, TextScores
from intarsia.infill.canvas import Budget
from intarsia.infill.filling.plan import (
    AskEngine,
    FillOptions,
    FindProject,
    plan_fill,
    with_project,
)
from intarsia.infill.holes.hole import hole_for_range
from intarsia.infill.repair.error_places import apart
from intarsia.infill.repair.proposals import EditKind, Found, Proposal
from intarsia.infill.replacement import Replacement
from intarsia.infill.suggestion import NoSuggestion, Suggestion
from intarsia.infill.syntax.text import line_start, with_plain_newlines
from intarsia.infill.text_change import TextRange

MAX_CHARS_BEFORE = 1_000
MAX_CHARS_AFTER = 300
MAX_SCORED = 10
"""Edits that are scored in full. Those with an unlikely first token are not."""

MAX_CHARS_BETWEEN = 3_000
"""Edits further apart than this are not compared."""


class AskScores(Protocol):
    """Sends texts to the engine and waits for their scores; where there are none, says why."""

    async def __call__(self, request: ScoreTexts, /) -> TextScores | NoSuggestion: ...


def score_request(text: str, edits: Sequence[Proposal], model: str | None = None) -> ScoreTexts:
    """Return the message that compares the text with each edit to the text as it is."""
    start, end = min(it.start for it in edits), max(it.end for it in edits)
    first = line_start(text, max(0, start - MAX_CHARS_BEFORE))
    last = min(len(text), end + MAX_CHARS_AFTER)
    return ScoreTexts(
        id=0,  # the client numbers its requests
        prefix=with_plain_newlines(text[first:start]),
        present=with_plain_newlines(text[start:end]),
        texts=tuple(
            with_plain_newlines(text[start : edit.start] + edit.new + text[edit.end : end])
            for edit in edits
        ),
        suffix=with_plain_newlines(text[end:last]),
        max_scored=MAX_SCORED,
        model=model,
    )


TOKENS_OF_NAME = 12
TOKENS_OF_LINE = 48

REFILL_RANK = 5.0

_BUDGET = Budget(prefix_tokens=512, suffix_tokens=192)
_FIRST_TOKEN = re.compile(r"\s*(\w+|[^\w\s])")


def _texts(answer: Filled, suggestion: Suggestion | NoSuggestion) -> list[str]:
    """Return the cleaned text, the raw one and its first token: the model may write too much."""
    raw = answer.text.split("\n", 1)[0]
    first = _FIRST_TOKEN.match(raw)
    cleaned = suggestion.text if isinstance(suggestion, Suggestion) else ""
    texts = [cleaned.strip(), raw.strip(), first[1] if first else ""]
    return [it for it in dict.fromkeys(texts) if it]


LEAST_GAIN = 2.0
"""Nats by which a repair must be likelier than the present text."""

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
    find_project: FindProject | None = None


async def find_repair(asking: Asking, found: Found) -> Repair | NoSuggestion:
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
    return NoSuggestion(reason="no edit that parses is likelier than the present text")


def _better(one: Repair | None, other: Repair | None) -> Repair | None:
    if one is None or other is None:
        return one or other
    return max(one, other, key=lambda it: it.gain)


async def _refilled(
    asking: Asking, found: Found, spans: Sequence[TextRange]
) -> list[Proposal] | NoSuggestion:
    """Return what the model writes in the spans and parses; the reason where it gives no answer."""
    passed: list[Proposal] = []
    text, language = found.syntax.text, found.syntax.language
    for span in spans:
        hole = hole_for_range(text, span.start, span.end, language)
        hole = replace(hole, kind="line", max_lines=1)
        is_line = "\n" in text[span.end : span.end + 2] and span.end > span.start + 1
        max_tokens = TOKENS_OF_LINE if is_line else TOKENS_OF_NAME
        asked = replace(asking.options, budget=_BUDGET, max_tokens=max_tokens)
        plan = plan_fill(hole, asked)
        asked = await with_project(asked, plan, asking.find_project)
        answer = await asking.fill(plan.request(asked))
        if isinstance(answer, NoSuggestion):
            return passed or answer
        for new in _texts(answer, plan.read(answer)):
            edit = Proposal(
                start=span.start,
                end=span.end,
                new=apart(text[: span.start], new, text[span.end :]),
                kind="refill",
                rank=REFILL_RANK,
            )
            if new != text[span.start : span.end].strip() and found.check.passes(edit):
                passed.append(edit)
    return passed


async def _likeliest(
    asking: Asking, found: Found, edits: Sequence[Proposal]
) -> Repair | NoSuggestion | None:
    """Return the edit that gains most; None if none gains enough."""
    text = found.syntax.text
    edits = [it for it in edits if abs(it.start - edits[0].start) <= MAX_CHARS_BETWEEN // 2]
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


_MAX_SHOWN_CHARS = 30


def description_of(text: str, repair: Repair) -> str:
    """Return words such as ``insert ")"`` or ``replace "fro" by "for"``."""
    change = repair.replacement
    old, new = text[change.start : change.end].strip(), change.new.strip()
    if not old:
        return f"insert {_shown(new)}"
    if not new:
        return f"delete {_shown(old)}"
    if repair.kind == "swap":
        return f"{_shown(old)} becomes {_shown(new)}"
    return f"replace {_shown(old)} by {_shown(new)}"


def _shown(text: str) -> str:
    line = " ".join(text.split())
    is_cut = len(line) > _MAX_SHOWN_CHARS
    return f'"{line[:_MAX_SHOWN_CHARS]}{"…" if is_cut else ""}"'
