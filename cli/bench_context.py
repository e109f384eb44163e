"""How a fill grows with its file: files of 1 k to 32 k tokens, read whole, and as an editor has it.

An engine of its own that takes so much: the usual one takes 8,192 tokens of context, and an editor
shows it about 1,900 of them, however long the file is.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from intarsia.cli.bench_edits import measure_edits
from intarsia.cli.bench_side_by_side import plan_line
from intarsia.cli.bench_sources import CutLine, cut_line_of_file
from intarsia.cli.figures import Bench, Figure, middle_of
from intarsia.cli.fresh_engine import fresh_engine
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import Filled
from intarsia.filling.options import FillOptions
from intarsia.infill.canvas import Budget

KILO_TOKENS = (1, 2, 4, 8, 16, 32)
EDITED_KILO_TOKENS = 8

_WARM_FILLS = 3
_WHOLE = Budget(prefix_tokens=100_000, suffix_tokens=100_000)
_MAX_TOKENS = 32_768


@dataclass(frozen=True, kw_only=True, slots=True)
class _Timed:
    filled: Filled
    ms: float

    @property
    def pass_ms(self) -> float:
        return self.filled.ms.denoise / max(1, self.filled.steps)


async def measure_context(bench: Bench) -> Sequence[Figure]:
    """Go from short files to long ones, one cold fill and some warm ones each."""
    launch = replace(bench.launch, max_context_tokens=_MAX_TOKENS, cache_tokens=2 * _MAX_TOKENS)
    figures: list[Figure] = []
    async with fresh_engine(launch) as (client, _):
        await client.preload(bench.options.model)
        for kilo in KILO_TOKENS:
            figures += await _file(client, bench.options, kilo)
        figures += await measure_edits(
            client, replace(bench.options, budget=_WHOLE), EDITED_KILO_TOKENS
        )
    return figures


async def _file(client: EngineClient, options: FillOptions, kilo: int) -> list[Figure]:
    line = cut_line_of_file(1000 * kilo)
    whole = replace(options, budget=_WHOLE)
    cold = await _fill(client, line, whole)
    warm = [await _fill(client, line, whole) for _ in range(_WARM_FILLS)]
    shown = [await _fill(client, line, options) for _ in range(1 + _WARM_FILLS)]
    num_read = cold.filled.num_prefilled + cold.filled.num_reused
    whole_method = f"a file of {kilo},000 tokens, all of it shown"
    shown_method = f"a file of {kilo},000 tokens, shown as an editor has it"
    return [
        Figure(
            name=f"context_{kilo}k_read_tokens",
            words=f"{kilo} k file: context read",
            value=num_read,
            unit="tokens",
            method=f"{whole_method}; what the engine cannot hold it cuts (far from the hole)",
        ),
        Figure(
            name=f"context_{kilo}k_cold_ms",
            words=f"{kilo} k file: a line, cold",
            value=cold.ms,
            unit="ms",
            method=f"{whole_method}, not seen before; once",
        ),
        *_times(f"context_{kilo}k_warm_ms", f"{kilo} k file: a line, warm", whole_method, warm),
        middle_of(
            [it.pass_ms for it in warm],
            name=f"context_{kilo}k_pass_ms",
            words=f"{kilo} k file: a pass",
            unit="ms",
            method="of these fills",
        ),
        Figure(
            name=f"file_{kilo}k_cold_ms",
            words=f"{kilo} k file, cut as usual: a line, cold",
            value=shown[0].ms,
            unit="ms",
            method=f"{shown_method} ({shown[0].filled.num_prefilled:,} tokens read); once",
        ),
        *_times(
            f"file_{kilo}k_warm_ms",
            f"{kilo} k file, cut as usual: a line, warm",
            shown_method,
            shown[1:],
        ),
    ]


def _times(name: str, words: str, method: str, fills: Sequence[_Timed]) -> list[Figure]:
    return [middle_of([it.ms for it in fills], name=name, words=words, unit="ms", method=method)]


async def _fill(client: EngineClient, line: CutLine, options: FillOptions) -> _Timed:
    """Time one fill from text to the engine's answer: a long file takes long to be cut."""
    started = time.perf_counter()
    filled = await client.fill(plan_line(line, options).request(options))
    return _Timed(filled=filled, ms=1000 * (time.perf_counter() - started))
