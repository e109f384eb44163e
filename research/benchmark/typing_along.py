"""Measure what a warm start from the last fill saves when the user types the suggested text.

Lines of real files are typed character by character. At each, the engine is asked once with a warm
start and once without, also with a limit on the forward passes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from intarsia.infill.filling.options import FillOptions
from intarsia_research.benchmark.editor.sources import CutLine, cut_lines
from intarsia_research.benchmark.figures import Bench, Figure
from intarsia_research.benchmark.side_by_side import plan_line

_MOST_LINES = 4
_PATIENCE = 2  # forward passes between two keys


@dataclass(kw_only=True, slots=True)
class _Sum:
    num_forwards: int = 0
    fills: int = 0
    whole: int = 0


async def measure_along(bench: Bench) -> Sequence[Figure]:
    """Type each line twice: once with time for every fill, once with a key every two passes."""
    lines = cut_lines(min(bench.repeats, _MOST_LINES))
    figures: list[Figure] = []
    for name, words, most in (
        ("finished", "each fill finished", None),
        ("hurried", f"the next key after {_PATIENCE} passes", _PATIENCE),
    ):
        options = replace(bench.options, max_steps=most)
        cold = await _type(bench, lines, replace(options, is_fresh=True))
        warm = await _type(bench, lines, replace(options, is_fresh=False))
        figures += _figures(name, words, cold, warm)
    return figures


async def _type(bench: Bench, lines: Sequence[CutLine], options: FillOptions) -> _Sum:
    total = _Sum()
    for line in lines:
        for typed in range(line.end - line.start):
            plan = plan_line(replace(line, start=line.start + typed), options)
            filled = await bench.client.fill(plan.request(options))
            total.num_forwards += filled.num_forwards
            total.fills += 1
            total.whole += filled.finish_reason == "end_of_hole"
    return total


def _figures(name: str, words: str, cold: _Sum, warm: _Sum) -> list[Figure]:
    method = f"{cold.fills} keys, without a server's cache; ratio to fills without a warm start"
    return [
        Figure(
            name=f"along_{name}_passes_ratio",
            words=f"forward passes, typing along, {words}",
            value=warm.num_forwards / max(1, cold.num_forwards),
            unit="x",
            method=f"{method} ({warm.num_forwards} over {cold.num_forwards})",
        ),
        Figure(
            name=f"along_{name}_whole_share",
            words=f"keys with a complete answer, {words}",
            value=100 * warm.whole / max(1, warm.fills),
            unit="%",
            method=f"without a warm start {100 * cold.whole / max(1, cold.fills):.0f} %",
        ),
    ]
