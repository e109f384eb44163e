"""Chunks are scored in idle time only: any other request goes first."""

import asyncio
import threading
import time
from collections.abc import Callable

import msgspec
import pytest
from in_process_engine import always, in_process_engine
from rule_filler import RuleFiller

from intarsia.engine.cache.progress import Progress
from intarsia.engine.config import EngineConfig
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient, FillFailed
from intarsia.engine.ipc.messages import (
    ContextChunk,
    Fill,
    Prefetch,
    ProjectContext,
    ScoreChunks,
)
from intarsia.engine.service import worker

PROJECT = ProjectContext(
    repository="pkg", path="a.py", chunks=(ContextChunk(path="b.py", text="x = 1"),)
)
SCORE = ScoreChunks(id=0, prefix="y = ", suffix="", project=PROJECT)


def hole(**fields: bool) -> Fill:
    return Fill(id=0, prefix="x = ", suffix="", **fields)


class SlowScore:
    """Scores in passes of a millisecond until it is let go; ``at_pass`` has the times."""

    def __init__(self) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.at_pass: list[float] = []

    def __call__(self, request: ScoreChunks, control: FillControl) -> list[float]:
        while not self.may_end.is_set():
            control.checkpoint()
            self.at_pass.append(time.monotonic())
            self.begun.set()
            time.sleep(0.001)
        return [0.5 for _ in request.project.chunks]


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not is_so():  # noqa: ASYNC110 a thread's doing is waited for
            await asyncio.sleep(0.005)


async def test_the_gains_are_answered(address: Address):
    filler = RuleFiller(lambda _: "1", score=lambda *_: [0.25])
    async with (
        in_process_engine(address, always(filler)),
        EngineClient(name="test", start=False, address=address) as client,
    ):
        assert await client.score_chunks(SCORE) == (0.25,)
        assert (await client.status()).num_fills == 0


async def test_it_puts_out_no_other_model(address: Address):
    def load(config: EngineConfig, name: str, on_progress: Progress) -> RuleFiller:
        loaded.append(name)
        return RuleFiller(lambda _: "1", score=lambda *_: [0.25], name=name)

    loaded: list[str] = []
    async with (
        in_process_engine(address, load),
        EngineClient(name="test", start=False, address=address) as client,
    ):
        await client.fill(hole())
        with pytest.raises(FillFailed) as error:
            await client.score_chunks(msgspec.structs.replace(SCORE, model="another"))
        assert error.value.code == "cancelled"
        assert await client.score_chunks(SCORE) == (0.25,)
    assert len(loaded) == 1


async def test_a_model_that_cannot_score_says_so_in_one_line(address: Address):
    def refuse(*_: object) -> list[float]:
        raise ValueError("this model cannot score")

    async with (
        in_process_engine(address, always(RuleFiller(lambda _: "1", score=refuse))),
        EngineClient(name="test", start=False, address=address) as client,
    ):
        with pytest.raises(FillFailed, match=r"^this model cannot score$") as error:
            await client.score_chunks(SCORE)
    assert error.value.code == "bad_request"


async def test_fills_run_inside_and_it_goes_on_after_a_pause(address: Address):
    score = SlowScore()
    async with (
        in_process_engine(address, always(RuleFiller(lambda _: "1", score=score))),
        EngineClient(name="test", start=False, address=address) as client,
    ):
        scoring = asyncio.create_task(client.score_chunks(SCORE))
        await until(score.begun.is_set)
        for _ in range(3):
            assert (await client.fill(hole())).text == "1"
        answered_at, num_before = time.monotonic(), len(score.at_pass)
        await until(lambda: len(score.at_pass) > num_before)
        assert score.at_pass[num_before] >= answered_at + worker.PAUSE_S * 0.9
        score.may_end.set()
        assert await scoring == (0.5,)


async def test_a_prefetch_goes_before_it(address: Address):
    read: list[str] = []
    score = SlowScore()
    filler = RuleFiller(
        lambda _: "1", score=score, prefetch=lambda place, _: read.append(place.prefix)
    )
    async with (
        in_process_engine(address, always(filler)),
        EngineClient(name="test", start=False, address=address) as client,
    ):
        scoring = asyncio.create_task(client.score_chunks(SCORE))
        await until(score.begun.is_set)
        client.prefetch(Prefetch(prefix="here", suffix=""))
        await until(lambda: read == ["here"])
        score.may_end.set()
        assert await scoring == (0.5,)


async def test_it_does_not_end_a_prefetch(address: Address):
    begun, may_end = threading.Event(), threading.Event()
    ended: list[str] = []

    def prefetch(_: Prefetch, control: FillControl) -> None:
        begun.set()
        while not may_end.is_set():
            control.checkpoint()
            time.sleep(0.001)
        ended.append("read")

    def score(*_: object) -> list[float]:
        ended.append("scored")
        return [0.0]

    filler = RuleFiller(lambda _: "1", prefetch=prefetch, score=score)
    async with (
        in_process_engine(address, always(filler)),
        EngineClient(name="test", start=False, address=address) as client,
    ):
        await client.fill(hole())
        client.prefetch(Prefetch(prefix="here", suffix=""))
        await until(begun.is_set)
        scoring = asyncio.create_task(client.score_chunks(SCORE))
        await asyncio.sleep(0.1)
        may_end.set()
        await scoring
    assert ended == ["read", "scored"]


async def test_what_cannot_run_inside_ends_it(address: Address):
    score = SlowScore()
    async with (
        in_process_engine(address, always(RuleFiller(lambda _: "1", score=score))),
        EngineClient(name="test", start=False, address=address) as client,
    ):
        scoring = asyncio.create_task(client.score_chunks(SCORE))
        await until(score.begun.is_set)
        assert (await client.fill(hole(is_background=True))).text == "1"
        with pytest.raises(FillFailed) as error:
            await scoring
        assert error.value.code == "cancelled"


async def test_a_cancel_ends_it(address: Address):
    score = SlowScore()
    async with (
        in_process_engine(address, always(RuleFiller(lambda _: "1", score=score))),
        EngineClient(name="test", start=False, address=address) as client,
    ):
        scoring = asyncio.create_task(client.score_chunks(SCORE))
        await until(score.begun.is_set)
        scoring.cancel()
        num_passes = -1
        async with asyncio.timeout(10):
            while num_passes != len(score.at_pass):
                num_passes = len(score.at_pass)
                await asyncio.sleep(0.1)
        assert (await client.status()).state == "ready"
