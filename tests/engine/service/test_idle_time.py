"""What the engine does between two requests: it prepares for the next, which ends that work."""

import asyncio
import queue
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

import pytest
from in_process_engine import always, engine_client
from rule_filler import RuleFiller

from intarsia.engine.config import EngineConfig
from intarsia.engine.errors import Cancelled
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.messages import MAX_FRAME_BYTES, Fill, FindNextEdits, Prefetch
from intarsia.engine.service import worker
from intarsia.engine.service.job import Job
from intarsia.engine.service.model_slot import ModelSlot
from intarsia.engine.service.worker import Worker

PAUSE_S = 0.05


@pytest.fixture(autouse=True)
def _short_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "PAUSE_S", PAUSE_S)


def hole() -> Fill:
    return Fill(id=0, prefix="x = ", suffix="")


def work_until_cancelled(control: FillControl) -> NoReturn:
    while True:
        control.checkpoint()
        time.sleep(0.001)


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not is_so():  # noqa: ASYNC110 a thread's doing is waited for
            await asyncio.sleep(0.01)


async def test_a_pause_is_used_once(address: Address):
    prepared: list[float] = []
    filler = RuleFiller(lambda _: "1", prepare=lambda _: prepared.append(time.monotonic()))
    async with engine_client(address, filler) as client:
        for num_pauses in (1, 2):
            await client.fill(hole())
            await until(lambda: len(prepared) == num_pauses)  # noqa: B023 awaited at once
        await asyncio.sleep(6 * PAUSE_S)
    assert len(prepared) == 2


async def test_a_request_ends_the_preparation(address: Address):
    begun = threading.Event()

    def prepare(control: FillControl) -> None:
        begun.set()
        work_until_cancelled(control)

    async with engine_client(address, RuleFiller(lambda _: "1", prepare=prepare)) as client:
        await client.fill(hole())
        await until(begun.is_set)
        async with asyncio.timeout(5):
            assert (await client.fill(hole())).text == "1"


async def test_its_fault_is_no_requests(address: Address, caplog: pytest.LogCaptureFixture):
    def prepare(control: FillControl) -> None:
        raise MemoryError("no room")

    async with engine_client(address, RuleFiller(lambda _: "1", prepare=prepare)) as client:
        await client.fill(hole())
        await until(lambda: "no room" in caplog.text)
        assert (await client.fill(hole())).text == "1"


async def test_an_engine_stops_in_the_midst_of_it(address: Address):
    begun, ended = threading.Event(), threading.Event()

    def prepare(control: FillControl) -> None:
        begun.set()
        with suppress(Cancelled):
            work_until_cancelled(control)
        ended.set()

    async with engine_client(address, RuleFiller(lambda _: "1", prepare=prepare)) as client:
        await client.fill(hole())
        await until(begun.is_set)
    assert ended.is_set()


def places(number: int) -> Prefetch:
    return Prefetch(prefix=f"{number}", suffix="")


async def test_an_idle_engine_prefetches_at_the_cursor(address: Address):
    read: list[str] = []
    filler = RuleFiller(lambda _: "1", prefetch=lambda place, _: read.append(place.prefix))
    async with engine_client(address, filler) as client:
        client.prefetch(places(0))  # not connected: nothing happens
        await client.status()
        client.prefetch(places(1))  # no model is loaded, and none is for that
        await asyncio.sleep(6 * PAUSE_S)
        assert (read, (await client.status()).model) == ([], None)
        await client.fill(hole())
        for number in (2, 3):
            client.prefetch(places(number))
            await until(lambda: bool(read) and read[-1] == str(number))  # noqa: B023 awaited
        client.prefetch(Prefetch(prefix="other", suffix="", model="other"))
        client.prefetch(Prefetch(prefix="x" * MAX_FRAME_BYTES, suffix=""))
        client.prefetch(places(4))
        await until(lambda: read[-1] == "4")
    assert read == ["2", "3", "4"]


async def test_the_newest_place_counts_and_a_request_goes_before_any(address: Address):
    begun, seen = threading.Semaphore(0), list[str]()

    def prefetch(place: Prefetch, control: FillControl) -> None:
        seen.append(place.prefix)
        begun.release()
        work_until_cancelled(control)

    async with engine_client(address, RuleFiller(lambda _: "1", prefetch=prefetch)) as client:
        await client.fill(hole())
        client.prefetch(places(1))
        await asyncio.to_thread(begun.acquire)
        client.prefetch(places(2))
        await asyncio.to_thread(begun.acquire)
        async with asyncio.timeout(5):
            assert (await client.fill(hole())).text == "1"
    assert seen == ["1", "2"]


@pytest.mark.parametrize("is_running", [False, True])
async def test_a_fill_in_the_background_only_delays_a_place(address: Address, is_running: bool):
    begun, seen = threading.Semaphore(0), list[str]()

    def prefetch(place: Prefetch, control: FillControl) -> None:
        seen.append(place.prefix)
        begun.release()
        if len(seen) == 1 and is_running:
            work_until_cancelled(control)

    async with engine_client(address, RuleFiller(lambda _: "1", prefetch=prefetch)) as client:
        await client.fill(hole())
        client.prefetch(places(1))
        if is_running:
            await asyncio.to_thread(begun.acquire)
        ahead = Fill(id=0, prefix="x = ", suffix="", is_background=True)
        assert (await client.fill(ahead)).text == "1"
        assert await asyncio.to_thread(begun.acquire, timeout=5)
    assert seen == ["1"] * (1 + is_running)


async def test_a_cancelled_job_of_idle_time_leaves_idle_time_to_places(
    address: Address, monkeypatch: pytest.MonkeyPatch
):
    """The job is gone by the time that the thread takes a job, and a place is sent after it."""
    read, is_over = threading.Event(), threading.Event()
    filler = RuleFiller(lambda _: "1", prefetch=lambda *_: read.set())
    slot = ModelSlot(EngineConfig(), always(filler), lambda *_: None)
    slot.take(None)
    one = Worker(slot)
    job = Job(
        request=FindNextEdits(id=1, parts=(), example=None),
        client=None,
        received_at=time.monotonic(),
        deliver=lambda _: is_over.set(),
    )
    take_place = one._take_place

    def take_and_lose_the_job() -> Prefetch | None:
        place = take_place()
        if not is_over.is_set():
            one._waiting.remove(job)
            is_over.set()
        return place

    monkeypatch.setattr(one, "_take_place", take_and_lose_the_job)
    one.submit(job)
    one.start()
    assert await asyncio.to_thread(is_over.wait, 5)
    one.prefetch(places(1))
    assert await asyncio.to_thread(read.wait, 5)
    assert one.stop(10)


async def test_a_place_waits_for_a_pause(address: Address, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(worker, "PAUSE_S", 60.0)
    read = threading.Event()
    filler = RuleFiller(lambda _: "1", prefetch=lambda *_: read.set())
    async with engine_client(address, filler) as client:
        await client.fill(hole())
        client.prefetch(places(1))
        await asyncio.sleep(0.3)
        assert not read.is_set()


def test_a_cancel_between_waking_and_taking_ends_nothing():
    """The job is gone by the time that the thread looks: it waits for the next."""
    one = Worker(ModelSlot(EngineConfig(), always(RuleFiller(lambda _: "1")), lambda *_: None))
    answers: queue.SimpleQueue[object] = queue.SimpleQueue()
    one.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for number in range(3_000):
            job = Job(
                request=Fill(id=number, prefix="", suffix=""),
                client=None,
                received_at=time.monotonic(),
                deliver=answers.put,
            )
            one.submit(job)
            one.cancel(job)
            answers.get(timeout=10)
    finally:
        sys.setswitchinterval(interval)
    assert one.stop(10)


async def test_the_model_rests_after_a_pause_once(address: Address, monkeypatch):
    monkeypatch.setattr(worker, "REST_PAUSE_S", 0.2)
    done: list[str] = []
    filler = RuleFiller(
        lambda _: "1", prefetch=lambda *_: done.append("prefetch"), rest=lambda: done.append("rest")
    )
    async with engine_client(address, filler) as client:
        await client.fill(hole())
        client.prefetch(places(1))
        await until(lambda: len(done) == 2)
        await asyncio.sleep(0.5)
        assert done == ["prefetch", "rest"]
        client.prefetch(places(2))
        await until(lambda: len(done) == 4)
    assert done == ["prefetch", "rest"] * 2 + ["rest"], "the last one when the engine ended"
