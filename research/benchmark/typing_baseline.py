"""Type the same keys for llama.cpp's server, asked as by its editor plugins.

One streamed request per key; its connection is closed at the next key. The prompt cache is on, and
the typed line follows the suffix, so that the suffix is not read again.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import aclosing

from intarsia.infill.filling.plan import FillOptions, plan_at_cursor
from intarsia.infill.languages import language_for_id
from intarsia.infill.suggestion import NoSuggestion
from intarsia_research.benchmark.editor.typing_keys import TypingPlace
from intarsia_research.benchmark.figures import Bench, Figure
from intarsia_research.benchmark.systems import plain_name
from intarsia_research.benchmark.typing_figures import KeyFates, figures_of
from intarsia_research.evaluation.systems.baseline import prompt_of
from intarsia_research.evaluation.systems.baseline_program import NoAnswer, Prompt, StreamingProgram

BASELINE = "llama.cpp"


async def measure_typing_baseline(bench: Bench, places: Sequence[TypingPlace]) -> Sequence[Figure]:
    """Return the figures; none if this baseline is not to be measured."""
    baseline = bench.baseline(BASELINE)
    if baseline is None:
        return []
    fates = KeyFates()
    async with baseline.running() as program:
        assert isinstance(program, StreamingProgram)
        for place in places:
            await _type(program, place, bench.options, fates)
    return figures_of(
        fates,
        key=f"typing_{plain_name(BASELINE)}",
        who=f"{BASELINE}: ",
        way="one request per key, its connection closed at the next",
        num_places=len(places),
        draft="of a streamed text, its beginning",
    )


async def _type(
    program: StreamingProgram, place: TypingPlace, options: FillOptions, fates: KeyFates
) -> None:
    typed = ""
    for key in place.keys:
        typed = typed + key.text if key.text else typed[:-1]
        started = time.perf_counter()
        fates.num_keys += 1
        prompt = prompt_at(place.before + typed, place.after, options)
        if prompt is not None:
            await _ask(program, prompt, key.pause_s, fates)
        await asyncio.sleep(max(0.0, key.pause_s - (time.perf_counter() - started)))


def prompt_at(before: str, after: str, options: FillOptions) -> Prompt | None:
    """Return the prompt at this cursor; None if there is nothing to fill."""
    plan = plan_at_cursor(before + after, len(before), language_for_id("python"), options)
    return None if isinstance(plan, NoSuggestion) else prompt_of(plan.canvas)


async def _ask(program: StreamingProgram, prompt: Prompt, pause_s: float, fates: KeyFates) -> None:
    """Record when the text begins and ends, if that is before the next key."""
    started, shown_ms, text = time.perf_counter(), None, ""
    try:
        async with asyncio.timeout(pause_s), aclosing(program.stream(prompt)) as pieces:
            async for piece in pieces:
                text += piece
                if shown_ms is None and text.strip():
                    shown_ms = 1000 * (time.perf_counter() - started)
    except TimeoutError:
        pass
    except NoAnswer:
        return
    else:
        fates.answered_ms.append(1000 * (time.perf_counter() - started))
        if text.strip():
            fates.text_ms.append(fates.answered_ms[-1])
    if shown_ms is not None:
        fates.shown_ms.append(shown_ms)
