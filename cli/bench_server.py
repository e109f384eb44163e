"""How long an editor waits for the language server's first answer."""

import asyncio
import json
import sys
import time
from collections.abc import Sequence

from intarsia.cli.figures import Bench, Figure, percentile

_STARTS = 5
_INITIALIZE = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"processId": None, "rootUri": None, "capabilities": {}},
    }
).encode()


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
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "intarsia.cli", "serve"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert server.stdin and server.stdout
    server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(_INITIALIZE) + _INITIALIZE)
    await server.stdout.readline()
    seconds = time.perf_counter() - started
    server.kill()
    await server.communicate()
    return seconds
