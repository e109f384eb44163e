"""Measure what the language server adds to the engine's time.

A real server is asked over stdio for the end of a line in a long file, each time after an edit.
"""

import re
import time
from collections.abc import Sequence
from typing import Any

from intarsia_research.benchmark.editor.sources import long_source
from intarsia_research.benchmark.figures import Bench, Figure, percentile
from intarsia_research.evaluation.server_process import STATUS, ServerProcess, serving

NUM_LINES = 2_000
NUM_REQUESTS = 200
NUM_PLACES = 10

_URI = "file:///bench/long_source.py"
_ASSIGNMENT = re.compile(r"( {8})\w+ = \S")


async def measure_requests(bench: Bench, num_requests: int = NUM_REQUESTS) -> Sequence[Figure]:
    """Rewrite a line at some places. No two lines are equal, so no suggestion is cached."""
    source = long_source(NUM_LINES)
    places = _places(source)
    milliseconds, last = [], None
    async with serving(bench.address.as_environment()) as server:
        await _open(server, source, bench.options.model)
        for number in range(num_requests):
            line = places[number * len(places) // num_requests]
            waited_ms = await _ask(server, number, line)
            last = await _next_last(server, last)
            if last["ms"] is not None:
                milliseconds.append(waited_ms - last["ms"])
    return [
        Figure(
            name=f"server_p{percent}_ms",
            words=f"the language server's part, p{percent}",
            value=percentile(milliseconds, percent),
            unit="ms",
            method=f"edit and request to answer, minus the engine's time; "
            f"{len(milliseconds)} requests in a file of {NUM_LINES:,} lines",
        )
        for percent in (50, 95)
    ]


def _places(source: str) -> list[int]:
    """Return the numbers of lines with an assignment in a method, from all over the file."""
    lines = source.split("\n")
    found = [number for number, line in enumerate(lines) if _ASSIGNMENT.match(line)]
    return found[:: max(1, len(found) // NUM_PLACES)][:NUM_PLACES]


async def _open(server: ServerProcess, source: str, model: str | None) -> None:
    """Open the document and wait until the model is loaded."""
    await server.open_session({"debounceMs": 0, "deadlineMs": 1_000, "model": model})
    item = {"uri": _URI, "languageId": "python", "version": 0, "text": source}
    server.notify("textDocument/didOpen", {"textDocument": item})


async def _ask(server: ServerProcess, number: int, line: int) -> float:
    """Write the beginning of a line, ask for its end, and return the milliseconds it took."""
    typed = f"        value_{number} = "
    start, end = {"line": line, "character": 0}, {"line": line, "character": 1_000}
    edit = {"range": {"start": start, "end": end}, "text": typed}
    document = {"uri": _URI, "version": number + 1}
    cursor = {"line": line, "character": len(typed)}
    request = {"textDocument": document, "position": cursor, "context": {"triggerKind": 2}}
    started = time.perf_counter()
    server.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [edit]})
    await server.request("textDocument/inlineCompletion", request)
    return 1000 * (time.perf_counter() - started)


async def _next_last(server: ServerProcess, last: Any) -> Any:
    """Return the server's report on the request that it has just answered."""
    while (report := (await server.notified(STATUS))["last"]) in (None, last):
        pass
    return report
