"""``intarsia api`` as a process; a client that leaves cancels."""

import asyncio
import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def api(start_engine: Any) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run the command; yield its address, and its process."""
    start_engine(text="a + b")
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "intarsia.cli", "api", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        yield process.stderr.readline().split()[0], process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def ask(url: str, fields: dict[str, Any]) -> Any:
    """Ask by another's HTTP client."""
    request = urllib.request.Request(
        url, json.dumps(fields).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


def test_it_says_where_it_is_answers_there_and_ends(api: tuple[str, subprocess.Popen[str]]):
    url, process = api
    assert ask(url, {"prompt": "return "})["choices"][0]["text"] == "a + b"
    with pytest.raises(urllib.error.HTTPError, match="400"):
        ask(url, {"prompt": None})
    process.terminate()
    assert process.wait(30) == 0
    assert process.stderr.read() == ""


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
async def test_closing_the_connection_cancels_the_fill(start_api, path, fields, is_half_closed):
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
