"""Typing along: the same keys with and without what was written before."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, cast

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.messages import CanvasToken, Fill, Filled, FinishReason, Timing
from intarsia.infill.filling.options import FillOptions
from intarsia_research.benchmark.figures import Bench
from intarsia_research.benchmark.typing_along import measure_along


@dataclass
class CountingEngine:
    """Takes a pass less where it may start from before, and no more than it is given."""

    asked: list[Fill] = field(default_factory=list)

    async def fill(self, request: Fill) -> Filled:
        self.asked.append(request)
        wanted = 4 if request.fresh else 1
        passes = min(wanted, request.max_steps or wanted)
        reason: FinishReason = "end_of_hole" if passes == wanted else "max_steps"
        return Filled(
            id=0,
            text="x",
            tokens=(CanvasToken("x", 1.0, True),),
            num_forwards=passes,
            ms=Timing(queue=0, prefill=0, denoise=1, total=1),
            mean_entropy=0.0,
            finish_reason=reason,
            model="toy",
            num_prefilled=0,
            num_reused=0,
        )


async def test_passes_are_set_against_those_from_nothing(address: Address) -> None:
    engine = CountingEngine()
    bench = Bench(client=cast("Any", engine), address=address, options=FillOptions(), repeats=1)
    figures = {it.name: it.value for it in await measure_along(bench)}
    assert figures == {
        "along_finished_passes_ratio": 0.25,
        "along_finished_whole_share": 100,
        "along_hurried_passes_ratio": 0.5,
        "along_hurried_whole_share": 100,
    }
    prefixes = [it.prefix + it.given for it in engine.asked if it.fresh]
    keys = prefixes[: len(prefixes) // 2]
    assert len(keys) > 12 and all(len(b) == len(a) + 1 for a, b in pairwise(keys))
