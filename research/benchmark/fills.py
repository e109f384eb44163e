"""Measure single-line fills from text to suggestion, as an editor asks for them.

Each hole is filled three times: with a new context, again, and after one more typed word.
"""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from intarsia.infill.filling.fill_one import FillResult, fill_hole
from intarsia.infill.holes.hole import hole_for_range
from intarsia.infill.languages import language_for_id
from intarsia_research.benchmark.editor.sources import CutLine, cut_lines
from intarsia_research.benchmark.figures import Bench, Figure, percentile

_WORD = re.compile(r"\W*\w+")


@dataclass(frozen=True, kw_only=True, slots=True)
class TimedFill:
    """One fill, and the wall time from text to suggestion."""

    outcome: FillResult
    ms: float


async def measure_fills(bench: Bench) -> Sequence[Figure]:
    """Fill each hole cold, again, and after one more typed word."""
    cold, again, typed = [], [], []
    for line in cut_lines(bench.repeats):
        cold.append(await _fill(bench, line))
        again.append(await _fill(bench, line))
        typed.append(await _fill(bench, _type_a_word(line)))
    status = await bench.client.status()
    return [
        *_times("cold", "a context that is not cached", cold),
        *_times("warm", "the same request again", again),
        *_times("typed", "one more word typed, the context cached", typed),
        *_work("cold", cold),
        *_work("warm", again),
        *_overhead([*cold, *again, *typed]),
        Figure(
            name="engine_resident_gb",
            words="memory of the engine",
            value=status.resident_bytes / 1e9,
            unit="GB",
            method="resident set after all fills",
        ),
    ]


async def _fill(bench: Bench, line: CutLine) -> TimedFill:
    python = language_for_id("python")
    started = time.perf_counter()
    hole = hole_for_range(line.text, line.start, line.end, python)
    outcome = await fill_hole(bench.client.fill, line.text, hole, python, bench.options)
    assert isinstance(outcome, FillResult), "the client raises if there is no answer"
    return TimedFill(outcome=outcome, ms=(time.perf_counter() - started) * 1000)


def _type_a_word(line: CutLine) -> CutLine:
    """Return the hole that is left when the line's first word has been typed."""
    word = _WORD.match(line.text, line.start, line.end)
    return replace(line, start=word.end() if word else line.start)


def _times(kind: str, method: str, fills: Sequence[TimedFill]) -> list[Figure]:
    return [
        Figure(
            name=f"fill_{kind}_p{percent}_ms",
            words=f"single-line fill, {kind}, p{percent}",
            value=percentile([fill.ms for fill in fills], percent),
            unit="ms",
            method=f"{method}; {len(fills)} lines of the standard library",
        )
        for percent in (50, 95, 99)
    ]


def _work(kind: str, fills: Sequence[TimedFill]) -> list[Figure]:
    answers = [fill.outcome.filled for fill in fills]
    num_tokens = sum(len(filled.tokens) for filled in answers)
    num_forwards = sum(filled.num_forwards for filled in answers)
    num_prefilled = sum(filled.num_prefilled for filled in answers)
    return [
        Figure(
            name=f"fill_{kind}_prefilled_tokens",
            words=f"context tokens read, {kind}",
            value=num_prefilled / len(fills),
            unit="tokens",
            method="mean of the fills; the other tokens were cached",
        ),
        Figure(
            name=f"fill_{kind}_passes",
            words=f"forward passes, {kind}",
            value=num_forwards / len(fills),
            unit="passes",
            method="mean of the fills, without the prefill",
        ),
        Figure(
            name=f"fill_{kind}_tokens_per_pass",
            words=f"tokens per forward pass, {kind}",
            value=num_tokens / max(1, num_forwards),
            unit="tokens",
            method="all tokens over all forward passes",
        ),
        Figure(
            name=f"fill_{kind}_read_share",
            words=f"prefill's share, {kind}",
            value=100 * sum(filled.ms.prefill for filled in answers) / sum(it.ms for it in fills),
            unit="%",
            method="sum of the prefill times over the sum of all times",
        ),
    ]


def _overhead(fills: Sequence[TimedFill]) -> list[Figure]:
    return [
        Figure(
            name=f"overhead_p{percent}_ms",
            words=f"outside the model, p{percent}",
            value=percentile([fill.outcome.overhead_ms for fill in fills], percent),
            unit="ms",
            method="hole, canvas, socket and cleaning: the time outside the engine",
        )
        for percent in (50, 95)
    ]
