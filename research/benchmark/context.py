"""Measure how a fill's time grows with its file: 1 k to 32 k tokens, whole and cut as usual.

Starts its own engine with a larger limit: the usual one reads at most 8,192 tokens of context, and
an editor sends about 1,900, however long the file is.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from intarsia.engine.ipc.client import EngineClient, FillFailed
from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.infill.canvas.canvas import Budget
from intarsia.infill.filling.options import FillOptions
from intarsia_research.benchmark.editor.sources import CutLine, cut_line_of_file
from intarsia_research.benchmark.edits import measure_edits
from intarsia_research.benchmark.figures import Bench, Figure, middle_of
from intarsia_research.benchmark.fresh_engine import fresh_engine
from intarsia_research.benchmark.side_by_side import plan_line

KILO_TOKENS = (1, 2, 4, 8, 16, 32)
EDITED_KILO_TOKENS = 8

_WARM_FILLS = 3
_WHOLE = Budget(prefix_tokens=100_000, suffix_tokens=100_000)
_MAX_TOKENS = 32_768


@dataclass(frozen=True, kw_only=True, slots=True)
class _ContextFill:
    filled: Filled
    ms: float

    @property
    def pass_ms(self) -> float:
        return self.filled.ms.denoise / max(1, self.filled.num_forwards)


async def measure_context(bench: Bench) -> Sequence[Figure]:
    """Fill in longer and longer files, each once cold and a few times warm."""
    launch = replace(bench.launch, max_context_tokens=_MAX_TOKENS, cache_tokens=2 * _MAX_TOKENS)
    whole = replace(bench.options, budget=_WHOLE)
    figures: list[Figure] = []
    async with fresh_engine(launch) as (client, _):
        await client.preload(bench.options.model)
        for kilo in KILO_TOKENS:
            line = cut_line_of_file(1000 * kilo)
            if await _takes(client, 1000 * kilo, bench.options.model):
                cold = await _fill(client, line, whole)
                warm = [await _fill(client, line, whole) for _ in range(_WARM_FILLS)]
                figures += _whole_file(kilo, cold, warm)
                figures.append(_memory(kilo, (await client.status()).resident_bytes))
                if kilo == EDITED_KILO_TOKENS:
                    figures += await measure_edits(client, whole, line, cold.filled, kilo)
            else:
                figures.append(_not_taken(kilo))
            line = _with_new_beginning(line)
            shown = [await _fill(client, line, bench.options) for _ in range(1 + _WARM_FILLS)]
            figures += _file_as_usual(kilo, shown[0], shown[1:])
    return figures


def _with_new_beginning(line: CutLine) -> CutLine:
    """Return the same hole in a text that is not in the KV cache."""
    more = "# once more\n"
    start, end = line.start + len(more), line.end + len(more)
    return replace(line, text=more + line.text, start=start, end=end)


async def _takes(client: EngineClient, num_tokens: int, model: str | None) -> bool:
    """Return whether the engine accepts this much context."""
    probe = Fill(id=0, prefix="a", suffix="\n", max_tokens=num_tokens, max_steps=1, model=model)
    try:
        await client.fill(probe)
    except FillFailed as refusal:
        if refusal.code != "bad_request":
            raise
        return False
    return True


def _not_taken(kilo: int) -> Figure:
    return Figure(
        name=f"context_{kilo}k_cold_ms",
        words=f"{kilo} k file: a line, cold",
        value=None,
        unit="ms",
        method=f"the engine reads fewer than {kilo},000 tokens of context with this model: at most "
        "half of its positions",
    )


def _whole_file(kilo: int, cold: _ContextFill, warm: Sequence[_ContextFill]) -> list[Figure]:
    method = f"a file of {kilo},000 tokens, sent whole"
    return [
        Figure(
            name=f"context_{kilo}k_read_tokens",
            words=f"{kilo} k file: context read",
            value=cold.filled.num_prefilled + cold.filled.num_reused,
            unit="tokens",
            method=method,
        ),
        Figure(
            name=f"context_{kilo}k_cold_ms",
            words=f"{kilo} k file: a line, cold",
            value=cold.ms,
            unit="ms",
            method=f"{method}, not cached; once",
        ),
        *_times(f"context_{kilo}k_warm_ms", f"{kilo} k file: a line, warm", method, warm),
        middle_of(
            [it.pass_ms for it in warm],
            name=f"context_{kilo}k_pass_ms",
            words=f"{kilo} k file: a pass",
            unit="ms",
            method="of these fills",
        ),
    ]


def _memory(kilo: int, num_bytes: int) -> Figure:
    return Figure(
        name=f"context_{kilo}k_resident_gb",
        words=f"{kilo} k file: memory of the engine",
        value=num_bytes / 1e9,
        unit="GB",
        method="resident set after these fills, with this and the shorter contexts cached",
    )


def _file_as_usual(kilo: int, cold: _ContextFill, warm: Sequence[_ContextFill]) -> list[Figure]:
    method = f"a file of {kilo},000 tokens, cut as an editor's request cuts it"
    return [
        Figure(
            name=f"file_{kilo}k_cold_ms",
            words=f"{kilo} k file, cut as usual: a line, cold",
            value=cold.ms,
            unit="ms",
            method=f"{method} ({cold.filled.num_prefilled:,} tokens read); once",
        ),
        *_times(
            f"file_{kilo}k_warm_ms",
            f"{kilo} k file, cut as usual: a line, warm",
            method,
            warm,
        ),
    ]


def _times(name: str, words: str, method: str, fills: Sequence[_ContextFill]) -> list[Figure]:
    return [middle_of([it.ms for it in fills], name=name, words=words, unit="ms", method=method)]


async def _fill(client: EngineClient, line: CutLine, options: FillOptions) -> _ContextFill:
    """Time one fill from text to answer, including the cutting of a long file."""
    started = time.perf_counter()
    filled = await client.fill(plan_line(line, options).request(options))
    return _ContextFill(filled=filled, ms=1000 * (time.perf_counter() - started))
