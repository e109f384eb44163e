"""Holes filled through llama.cpp's own server with the default model, by our engine process."""

import asyncio
import contextlib
import inspect
import statistics
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from engine_watch import until
from real_holes import REAL_HOLES

from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.launch import LaunchOptions
from intarsia.engine.ipc.messages import Fill, Prefetch, Step

pytestmark = [pytest.mark.slow, pytest.mark.model, pytest.mark.timeout(900)]

HOLES = ("count vowels", "clamp", "factorial")
FILE = inspect.getsource(statistics)[3_000:5_000]
"""Code of other people, about 450 tokens."""


@pytest.fixture
async def client(llama_cpp, settings, address) -> AsyncIterator[EngineClient]:
    """A client of an engine process that fills through the server."""
    settings.write(llama_cpp.url, timeout_s=300)
    launch = LaunchOptions(model="remote:there")
    async with EngineClient(name="test", launch=launch, address=address) as client:
        yield client


def mapped_files(pid: int) -> str:
    return Path(f"/proc/{pid}/maps").read_text()


def line(prefix: str, suffix: str, **fields: object) -> Fill:
    options = {"stop": ("\n",), "max_tokens": 32} | fields
    return Fill(id=1, prefix=prefix, suffix=suffix, **options)


async def test_lines_are_those_of_our_own_engine(client, real_engine_runtime):
    """Its weights have another number format and no tuning: some lines may differ."""
    same = 0
    async with EngineClient(name="test", start=False, address=real_engine_runtime) as own:
        for name in HOLES:
            hole = line(*REAL_HOLES[name])
            there, here = await client.fill(hole), await own.fill(hole)
            assert there.model.startswith("remote:there at 127.0.0.1:")
            assert there.text == "".join(token.text for token in there.tokens)
            assert all(0 < token.confidence <= 1 for token in there.tokens)
            assert there.finish_reason == "end_of_hole"
            same += there.text == here.text
    assert same >= len(HOLES) - 1
    status = await client.status()
    assert (status.family, status.dtype) == ("llama.cpp", "Q4_K - Medium")
    if sys.platform == "linux":
        assert "libtorch" not in mapped_files(status.pid)


async def test_a_half_typed_word_is_continued(client: EngineClient) -> None:
    prefix, suffix = REAL_HOLES["count vowels"]
    whole = await client.fill(line(prefix, suffix))
    word = whole.text[: len(whole.text) - len(whole.text.lstrip()) + 1]
    filled = await client.fill(line(prefix, suffix, given=word))
    assert filled.text == whole.text.removeprefix(word)
    other = await client.fill(line(prefix, suffix, given=word, alternative=1))
    assert other.text != filled.text


async def test_typing_on_rereads_almost_nothing(client, llama_cpp):
    at = FILE.index("\n\n", 1_200)
    above, below = FILE[:at], FILE[at:]
    typed = "\n    total = sum(value * "
    first = await client.fill(line(above, below, given="\n    ", max_tokens=2))
    num_naive = first.num_prefilled + first.num_reused
    assert first.num_prefilled > 200
    num_before = llama_cpp.num_tokens_read()
    for end in range(6, len(typed) + 1, 3):
        filled = await client.fill(
            line(
                above + typed[: max(5, end - 3)],
                below,
                given=typed[max(5, end - 3) : end],
                max_tokens=2,
            )
        )
        assert filled.num_prefilled + filled.num_reused >= num_naive
    num_keys = len(range(6, len(typed) + 1, 3))
    assert llama_cpp.num_tokens_read() - num_before <= 0.05 * num_keys * num_naive


async def test_reading_ahead_is_done_on_the_server(client, llama_cpp):
    prefix, suffix = REAL_HOLES["group by"]
    hole = line("// read ahead\n" * 8 + prefix, suffix, max_tokens=2)
    await client.fill(line("x = ", "\n", max_tokens=1))
    num_before = llama_cpp.num_tokens_read()
    client.prefetch(Prefetch(prefix=hole.prefix, suffix=hole.suffix))
    await until(lambda: llama_cpp.num_tokens_read() > num_before + 50, 120)
    await until(lambda: not llama_cpp.num_busy_slots(), 120)
    filled = await client.fill(hole)
    assert filled.num_prefilled <= 2
    assert filled.num_reused > 50


async def test_cancelling_frees_the_servers_slot(client, llama_cpp):
    began = asyncio.Event()
    steps: list[Step] = []

    def on_step(step: Step) -> None:
        steps.append(step)
        began.set()

    long = Fill(id=1, prefix="# Count from one to a thousand:\n1, 2, 3,", suffix="\n",
                max_tokens=700, watch=True)  # fmt: skip
    filling = asyncio.create_task(client.fill(long, on_step))
    async with asyncio.timeout(120):
        await began.wait()
    filling.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await filling
    await until(lambda: not llama_cpp.num_busy_slots(), 120)
    assert len(steps) < 600
    assert (await client.fill(line("x = ", "\n", max_tokens=2))).text
