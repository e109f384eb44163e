"""One hole of one text, filled through the engine: text → hole → canvas → fill → suggestion.

Shared by the commands that fill. Knows nothing of files, terminals or positions.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import Fill, Filled, SettleMode, Step
from intarsia.infill.canvas import Budget, Canvas, build_canvas
from intarsia.infill.hole import Hole
from intarsia.infill.languages import Language
from intarsia.infill.postprocess import clean
from intarsia.infill.suggestion import NoSuggestion, Suggestion


@dataclass(frozen=True, kw_only=True, slots=True)
class FillOptions:
    """What the user may say about a fill; what is None is left to the canvas or the engine."""

    settle: SettleMode = "verified"
    seed: int = 0
    temperature: float | None = None
    max_tokens: int | None = None
    max_steps: int | None = None
    deadline_ms: int | None = None
    model: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class FillOutcome:
    """What became of one hole in ``text``. ``overhead_ms``: all that was not the engine's work."""

    text: str
    hole: Hole
    found: Suggestion | NoSuggestion
    filled: Filled
    overhead_ms: float


async def fill_hole(
    client: EngineClient,
    text: str,
    hole: Hole,
    language: Language,
    options: FillOptions,
    on_step: Callable[[Step], None] | None = None,
) -> FillOutcome:
    """Fill a hole and clean the answer. Raises EngineError where the engine gives none."""
    started = time.perf_counter()
    canvas = build_canvas(text, hole, language, Budget())
    filled = await client.fill(_request(canvas, options, is_watched=on_step is not None), on_step)
    found = clean(filled.text, text, hole, canvas, language)
    return FillOutcome(
        text=text,
        hole=hole,
        found=found,
        filled=filled,
        overhead_ms=(time.perf_counter() - started) * 1000 - filled.ms.total,
    )


def with_fill(text: str, suggestion: Suggestion) -> str:
    """Return the text with the suggestion in its place."""
    return text[: suggestion.start] + suggestion.text + text[suggestion.end :]


def _request(canvas: Canvas, options: FillOptions, *, is_watched: bool) -> Fill:
    return Fill(
        id=0,  # the client numbers its requests
        prefix=canvas.prefix,
        suffix=canvas.suffix,
        given=canvas.given,
        stop=canvas.stop,
        min_indent=canvas.min_indent,
        max_tokens=options.max_tokens or canvas.max_tokens,
        max_steps=options.max_steps,
        deadline_ms=options.deadline_ms,
        settle=options.settle,
        temperature=options.temperature,
        seed=options.seed,
        watch=is_watched,
        model=options.model,
    )
