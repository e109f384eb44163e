"""How fast the engine reads context that it has not seen."""

from collections.abc import Sequence

from intarsia.cli.bench_sources import cut_lines
from intarsia.cli.figures import Bench, Figure, percentile
from intarsia.engine.ipc.messages import Fill

_CHARACTERS = 6_000
_REPEATS = 3


async def measure_prefill(bench: Bench) -> Sequence[Figure]:
    """Send contexts of some two thousand tokens, and take the engine's own times."""
    rates = []
    for number, line in enumerate(cut_lines(_REPEATS)):
        prefix = f"# {number}\n{line.text[:_CHARACTERS]}"
        filled = await bench.client.fill(
            Fill(id=0, prefix=prefix, suffix="\n", max_tokens=1, model=bench.options.model)
        )
        rates.append(filled.ms.prefill / max(1, filled.num_prefilled) * 1000)
    return [
        Figure(
            name="prefill_ms_per_1k_tokens",
            words="prefill of 1,000 tokens",
            value=percentile(rates, 50),
            unit="ms",
            method=f"contexts of {_CHARACTERS:,} characters; median of {_REPEATS}",
        )
    ]
