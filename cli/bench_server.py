"""How long an editor waits for the language server's first answer."""

import time
from collections.abc import Sequence

from intarsia.cli.figures import Bench, Figure, percentile
from intarsia.evaluation.server_process import serving

_STARTS = 5


async def measure_server(bench: Bench) -> Sequence[Figure]:
    """Start servers one after the other; no engine takes part."""
    seconds = [await _start() for _ in range(_STARTS)]
    return [
        Figure(
            name="initialize_s",
            words="LSP initialize",
            value=percentile(seconds, 50),
            unit="s",
            method=f"from the start of `intarsia serve` to its answer; median of {_STARTS}",
        )
    ]


async def _start() -> float:
    """Return the seconds from no server to its answer."""
    started = time.perf_counter()
    async with serving() as server:
        await server.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        return time.perf_counter() - started
