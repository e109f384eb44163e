"""Measure how a fill's time grows with its hole: blocks of 1 to 16 lines, ours and llama.cpp's.

Whole bodies of functions are cut out. The model decides how long the answer is (llama.cpp knows no
indentation and continues after the body), so times are also given per token.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from intarsia.infill.canvas.canvas import Budget
from intarsia.infill.filling.options import FillOptions
from intarsia.infill.filling.plan import FillPlan, plan_at_cursor
from intarsia.infill.languages import language_for_id
from intarsia_research.benchmark.editor.sources import CutLine, cut_bodies
from intarsia_research.benchmark.figures import Bench, Figure, middle_of
from intarsia_research.benchmark.systems import OURS, plain_name, start_systems
from intarsia_research.evaluation.answer import Answer

NUM_LINES = (1, 2, 4, 8, 16)
BASELINE = "llama.cpp"

_MOST_HOLES = 3  # of each length; the longest take seconds
_MOST_TOKENS_A_LINE = 16
_CONTEXT = {"prefix_tokens": 512, "suffix_tokens": 128}  # short: the prefill is not measured here


async def measure_hole_lengths(bench: Bench) -> Sequence[Figure]:
    """Let every system read the context of each block, then fill the block."""
    baseline = bench.baseline(BASELINE)
    few = replace(bench, baselines=() if baseline is None else (baseline,))
    figures: list[Figure] = []
    async with start_systems(few) as ready:
        for num_lines in NUM_LINES:
            budget = Budget(**_CONTEXT, hole_tokens=num_lines * _MOST_TOKENS_A_LINE)
            options = replace(bench.options, budget=budget)
            answers: dict[str, list[Answer]] = {it.name: [] for it in ready}
            for body in cut_bodies(min(bench.repeats, _MOST_HOLES), num_lines):
                plan = plan_body(body, options)
                for system in ready:
                    await system.fill(_reading(plan))
                for system in ready:
                    answer = await system.fill(plan)
                    answers[system.name] += [] if answer.is_failure else [answer]
            for name, given in answers.items():
                figures += _figures(name, num_lines, given)
    return figures


def plan_body(body: CutLine, options: FillOptions) -> FillPlan:
    """Return the hole at a cursor below the header, with the body cut out."""
    text = body.text[: body.start] + body.text[body.end :]
    found = plan_at_cursor(text, body.start, language_for_id("python"), options)
    assert isinstance(found, FillPlan), "the cursor is in code"
    return found


def _reading(plan: FillPlan) -> FillPlan:
    """Return a plan with the same context that writes one token."""
    return replace(plan, canvas=replace(plan.canvas, max_tokens=1))


def _figures(name: str, num_lines: int, answers: Sequence[Answer]) -> Iterator[Figure]:
    key = f"hole_{plain_name(name)}_{num_lines}_lines"
    words = f"{name}: {num_lines} line{'s' if num_lines > 1 else ''}"
    yield middle_of(
        [it.ms for it in answers],
        name=f"{key}_ms",
        words=words,
        unit="ms",
        method="a function's body of this length cut out, the context cached",
    )
    yield middle_of(
        [it.num_tokens or 0 for it in answers],
        name=f"{key}_tokens",
        words=f"{words}, tokens written",
        unit="tokens",
        method="the model chooses the length",
    )
    yield middle_of(
        [_decode_ms(it) / it.num_tokens for it in answers if it.num_tokens],
        name=f"{key}_token_ms",
        words=f"{words}, per token",
        unit="ms",
        method="time without the prefill, over the tokens written",
    )
    if name == OURS:
        yield middle_of(
            [(it.num_tokens or 0) / it.num_forwards for it in answers if it.num_forwards],
            name=f"{key}_tokens_per_pass",
            words=f"{words}, tokens per forward pass",
            unit="tokens",
            method="of these fills",
        )


def _decode_ms(answer: Answer) -> float:
    return (answer.engine_ms or answer.ms) - (answer.read_ms or 0)
