"""A client that leaves cancels its fill, whichever API it speaks."""

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from api_desk import Desk

StartApi = Callable[..., contextlib.AbstractAsyncContextManager[Desk]]
HOLE = {"input_prefix": "return ", "input_suffix": ""}


@pytest.mark.parametrize("is_half_closed", [False, True])
@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/v1/completions", {"prompt": "return "}),
        ("/v1/completions", {"prompt": "return ", "stream": True}),
        ("/infill", HOLE),
        ("/infill", HOLE | {"stream": True, "t_max_predict_ms": 1000}),
        ("/completion", {"prompt": "return "}),
        ("/api/generate", {"prompt": "return "}),
    ],
)
async def test_closing_the_connection_cancels_the_fill(
    start_api: StartApi, path: str, fields: dict[str, Any], is_half_closed: bool
):
    loop, begun, released = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
    steps: list[int] = []

    def between_steps(step: int) -> None:
        steps.append(step)
        loop.call_soon_threadsafe(begun.set)
        released.wait(30)

    async with start_api(between_steps=between_steps) as desk:
        _, writer = await desk.connect()
        writer.write(desk.request("POST", path, json.dumps(fields).encode()))
        await begun.wait()
        if is_half_closed:
            writer.write_eof()
        else:
            writer.close()
        await desk.left.wait()
        await desk.client.status()  # after the cancel, on the same connection
        released.set()
        assert (await desk.complete(prompt="return ")).status == 200
        writer.close()
    assert steps == [1, 1, 2, 3], "one step of the first fill, all of the second"
