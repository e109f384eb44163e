"""Measure whether the same request gives the same text, in one engine and in another one.

Half of the requests decode greedily, half sample with a seed. The second time the context is in the
KV cache, so that the model's numbers are computed in another way.
"""

from collections.abc import Sequence
from dataclasses import replace

from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import Fill
from intarsia.infill.canvas import Budget
from intarsia_research.benchmark.editor.sources import cut_lines
from intarsia_research.benchmark.figures import Bench, Figure
from intarsia_research.benchmark.fresh_engine import fresh_engine
from intarsia_research.benchmark.side_by_side import plan_line

SEED = 7
TEMPERATURE = 0.8

_MOST_HOLES = 6
_BUDGET = Budget(prefix_tokens=512, suffix_tokens=128)  # short: the text depends on the seed


async def measure_determinism(bench: Bench) -> Sequence[Figure]:
    """Ask one new engine twice, then another new engine once."""
    options = replace(bench.options, budget=_BUDGET, seed=bench.options.seed or SEED)
    plans = [plan_line(line, options) for line in cut_lines(min(bench.repeats, _MOST_HOLES))]
    kinds = {
        "likeliest": [plan.request(options) for plan in plans],
        "drawn": [plan.request(replace(options, temperature=TEMPERATURE)) for plan in plans],
    }
    requests = [request for kind in kinds.values() for request in kind]
    async with fresh_engine(bench.launch) as (client, _):
        first = await _texts(client, requests)
        again = await _texts(client, requests)
    async with fresh_engine(bench.launch) as (client, _):
        fresh = await _texts(client, requests)
    return [
        figure
        for number, kind in enumerate(kinds)
        for which in [slice(number * len(plans), (number + 1) * len(plans))]
        for figure in (
            _same("again", "asked again", kind, first[which], again[which]),
            _same("fresh", "from a new engine", kind, first[which], fresh[which]),
        )
    ]


async def _texts(client: EngineClient, requests: Sequence[Fill]) -> list[str]:
    return [(await client.fill(request)).text for request in requests]


def same_percent(texts: Sequence[str], others: Sequence[str]) -> float:
    """Return the percentage of pairs that are equal in every character."""
    num_same = sum(one == other for one, other in zip(texts, others, strict=True))
    return 100 * num_same / len(texts)


def _same(name: str, words: str, kind: str, texts: Sequence[str], others: Sequence[str]) -> Figure:
    how = "greedy" if kind == "likeliest" else f"sampled at temperature {TEMPERATURE}"
    return Figure(
        name=f"same_{kind}_{name}_share",
        words=f"same text, {kind}, {words}",
        value=same_percent(texts, others),
        unit="%",
        method=f"{how}, the same seed; {len(texts)} lines",
    )
