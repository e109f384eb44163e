"""Measure how long a real model works on after the client of a fill has gone."""

import http.client
import json
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise

_DOCSTRING = '"""Return the lines of a file, each with its number."""'
_PREFIX = f"import os\n\n\ndef read(path):\n    {_DOCSTRING}\n"

_CANCELLED_AT = "intarsia_last_cancel_timestamp_seconds"

Metrics = Callable[[], Mapping[str, Mapping[str, float]]]
"""Returns the metrics of each engine, by its name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CancelledFill:
    """One cancelled fill: a pass of it, and the time from the close to the model's last work."""

    pass_ms: float
    lag_ms: float


def long_fill(*, max_tokens: int) -> dict[str, object]:
    return {
        "id": 1,
        "prefix": _PREFIX,
        "suffix": "\n\nprint(read('a'))\n",
        "max_tokens": max_tokens,
        "watch": True,
        "fresh": True,
        "decoding": "autoregressive",
    }


def cancel_lag_ms(port: int, key: str, metrics: Metrics) -> CancelledFill:
    """Begin a fill, close its connection after four passes, and wait until its model has left it.

    Both clocks are of one machine. The longest pass that was seen counts.
    """
    before = _cancelled_at(metrics)
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        headers = {"Authorization": f"Bearer {key}"}
        connection.request("POST", "/v1/fill", json.dumps(long_fill(max_tokens=200)), headers)
        answer = connection.getresponse()
        times: list[float] = []
        while len(times) < 5:
            line = answer.readline()
            assert line, "the fill has ended already"
            if line.startswith(b"event: step"):
                times.append(time.time())
        answer.close()
        connection.close()
        closed_at = time.time()
    end = closed_at + 30
    while (cancelled_at := _cancelled_at(metrics)) <= before:
        assert time.time() < end, "the fill was not cancelled"
        time.sleep(0.05)
    gaps = [after - before for before, after in pairwise(times)]
    return CancelledFill(pass_ms=1000 * max(gaps), lag_ms=1000 * (cancelled_at - closed_at))


def _cancelled_at(metrics: Metrics) -> float:
    return max(row[_CANCELLED_AT] for row in metrics().values())
