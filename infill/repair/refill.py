"""Has the model write a span again, between the text before and after it."""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from intarsia.engine.ipc.messages import Filled
from intarsia.infill.canvas.canvas import Budget
from intarsia.infill.filling.options import AskEngine, FillOptions
from intarsia.infill.filling.plan import plan_fill
from intarsia.infill.holes.hole import hole_for_range
from intarsia.infill.languages import Language
from intarsia.infill.repair.proposals import Proposal
from intarsia.infill.repair.proposals_at import Span
from intarsia.infill.repair.tokens import apart
from intarsia.infill.suggestion import NoSuggestion, Suggestion

TOKENS_OF_NAME = 12
TOKENS_OF_LINE = 48

REFILL_RANK = 5.0

_BUDGET = Budget(prefix_tokens=512, suffix_tokens=192)
_FIRST_TOKEN = re.compile(r"\s*(\w+|[^\w\s])")


async def refills(
    ask: AskEngine,
    text: str,
    spans: Sequence[Span],
    language: Language,
    options: FillOptions,
) -> AsyncIterator[Proposal | NoSuggestion]:
    """Yield what the model writes in each span; the reason where the engine gives no answer."""
    for span in spans:
        hole = hole_for_range(text, span.start, span.end, language)
        hole = replace(hole, kind="line", max_lines=1)
        is_line = "\n" in text[span.end : span.end + 2] and span.end > span.start + 1
        asked = replace(
            options,
            budget=_BUDGET,
            max_tokens=TOKENS_OF_LINE if is_line else TOKENS_OF_NAME,
        )
        plan = plan_fill(text, hole, language, asked)
        answer = await ask(plan.request(asked))
        if isinstance(answer, NoSuggestion):
            yield answer
            return
        for new in _texts(answer, plan.read(answer)):
            if new != text[span.start : span.end].strip():
                yield Proposal(
                    start=span.start,
                    end=span.end,
                    new=apart(text[: span.start], new, text[span.end :]),
                    kind="refill",
                    rank=REFILL_RANK,
                )


def _texts(answer: Filled, suggestion: Suggestion | NoSuggestion) -> list[str]:
    """Return the cleaned text, the raw one and its first token: the model may write too much."""
    raw = answer.text.split("\n", 1)[0]
    first = _FIRST_TOKEN.match(raw)
    cleaned = suggestion.text if isinstance(suggestion, Suggestion) else ""
    texts = [cleaned.strip(), raw.strip(), first[1] if first else ""]
    return [it for it in dict.fromkeys(texts) if it]
