"""What the engine does between two requests: it prepares for the next, which ends that work.

Next edits are found in idle time only, too: any other request goes first.
"""

import asyncio
import queue
import sys
import threading
import time
from typing import NoReturn

import msgspec
import pytest
from engine_watch import until
from in_process_engine import always, engine_client, hole, in_process_engine
from rule_filler import RuleFiller
from scripted_next_edits import find_by_rules, rule

from intarsia.engine.cache.progress import Progress
from intarsia.engine.config import EngineConfig
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient, FillFailed
from intarsia.engine.ipc.messages import (
    MAX_FRAME_BYTES,
    EditExample,
    Fill,
    FindNextEdits,
    NextEdits,
    Prefetch,
    Preload,
    ScoreTexts,
    TextPart,
)
from intarsia.engine.service import worker
from intarsia.engine.service.job import Job
from intarsia.engine.service.model_slot import ModelSlot
from intarsia.engine.service.worker import Worker

PAUSE_S = 0.02


@pytest.fixture(autouse=True)
def _short_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "PAUSE_S", PAUSE_S)


def work_until_cancelled(control: FillControl) -> NoReturn:
    while True:
        control.checkpoint()
        time.sleep(0.001)


async def test_a_pause_is_used_once(address: Address):
    prepared: list[float] = []
    filler = RuleFiller(lambda _: "1", prepare=lambda _: prepared.append(time.monotonic()))
    async with engine_client(address, filler) as client:
        for num_pauses in (1, 2):
            await client.fill(hole())
            await until(lambda: len(prepared) == num_pauses)  # noqa: B023 awaited at once
        await asyncio.sleep(6 * PAUSE_S)
    assert len(prepared) == 2


async def test_where_something_is_to_be_read_no_long_pause_is_waited_for(
    address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "PAUSE_S", 60.0)
    prepared: list[bool] = []
    filler = RuleFiller(lambda _: "1", prepare=lambda _: prepared.append(True))
    async with engine_client(address, filler) as client:
        await client.fill(hole())
        await asyncio.sleep(3 * worker.BEHIND_PAUSE_S)
        assert not prepared
        filler.is_behind = True
        await client.fill(hole())
        await until(lambda: bool(prepared))


async def test_a_request_and_the_end_of_the_engine_end_the_preparation(address: Address):
    begun, ended = threading.Semaphore(0), list[bool]()

    def prepare(control: FillControl) -> None:
        begun.release()
        try:
            work_until_cancelled(control)
        finally:
            ended.append(True)

    async with engine_client(address, RuleFiller(lambda _: "1", prepare=prepare)) as client:
        for num_ended in range(2):
            async with asyncio.timeout(5):
                assert (await client.fill(hole())).text == "1"
            assert await asyncio.to_thread(begun.acquire, timeout=5)
            assert len(ended) == num_ended
    assert len(ended) == 2


async def test_its_fault_is_no_requests(address: Address, caplog: pytest.LogCaptureFixture):
    def prepare(control: FillControl) -> None:
        raise MemoryError("no room")

    async with engine_client(address, RuleFiller(lambda _: "1", prepare=prepare)) as client:
        await client.fill(hole())
        await until(lambda: "no room" in caplog.text)
        assert (await client.fill(hole())).text == "1"


async def test_an_idle_engine_prefetches_at_the_cursor(address: Address):
    read: list[str] = []
    filler = RuleFiller(lambda _: "1", prefetch=lambda place, _: read.append(place.prefix))
    async with engine_client(address, filler) as client:
        client.prefetch(Prefetch(prefix="0", suffix=""))  # not connected: nothing happens
        await client.status()
        client.prefetch(Prefetch(prefix="1", suffix=""))  # no model is loaded, and none is for that
        await asyncio.sleep(6 * PAUSE_S)
        assert (read, (await client.status()).model) == ([], None)
        await client.fill(hole())
        for number in (2, 3):
            client.prefetch(Prefetch(prefix=str(number), suffix=""))
            await until(lambda: bool(read) and read[-1] == str(number))  # noqa: B023 awaited
        client.prefetch(Prefetch(prefix="other", suffix="", model="other"))
        client.prefetch(Prefetch(prefix="x" * MAX_FRAME_BYTES, suffix=""))
        client.prefetch(Prefetch(prefix="4", suffix=""))
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
        client.prefetch(Prefetch(prefix="1", suffix=""))
        await asyncio.to_thread(begun.acquire)
        client.prefetch(Prefetch(prefix="2", suffix=""))
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
        client.prefetch(Prefetch(prefix="1", suffix=""))
        if is_running:
            await asyncio.to_thread(begun.acquire)
        assert (await client.fill(hole(is_background=True))).text == "1"
        assert await asyncio.to_thread(begun.acquire, timeout=5)
    assert seen == ["1"] * (1 + is_running)


async def test_a_cancelled_job_of_idle_time_leaves_idle_time_to_places(address, monkeypatch):
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
    one.prefetch(Prefetch(prefix="1", suffix=""))
    assert await asyncio.to_thread(read.wait, 5)
    assert one.stop(10)


@pytest.mark.parametrize("request_", [Preload(id=1), hole(is_background=True)])
def test_a_place_outlives_what_waits_and_is_no_newer_fill(request_) -> None:
    one = Worker(ModelSlot(EngineConfig(), always(RuleFiller(lambda _: "1")), lambda *_: None))
    job = Job(request=request_, client=None, received_at=0.0, deliver=lambda _: None)
    one.submit(job)
    one.prefetch(place := Prefetch(prefix="1", suffix=""))
    assert one._take_place() is None, "what the user waits for goes first"
    one._waiting.remove(job)
    assert one._take_place() == place


async def test_a_place_waits_for_a_pause(address: Address, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(worker, "PAUSE_S", 60.0)
    read = threading.Event()
    filler = RuleFiller(lambda _: "1", prefetch=lambda *_: read.set())
    async with engine_client(address, filler) as client:
        await client.fill(hole())
        client.prefetch(Prefetch(prefix="1", suffix=""))
        await asyncio.sleep(6 * PAUSE_S)
        assert not read.is_set()


def test_a_cancel_between_waking_and_taking_ends_nothing():
    """The job is gone by the time that the thread looks: it waits for the next."""
    one = Worker(ModelSlot(EngineConfig(), always(RuleFiller(lambda _: "1")), lambda *_: None))
    answers: queue.SimpleQueue[object] = queue.SimpleQueue()
    one.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for number in range(1_000):
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
    monkeypatch.setattr(worker, "REST_PAUSE_S", 4 * PAUSE_S)
    done: list[str] = []
    filler = RuleFiller(
        lambda _: "1", prefetch=lambda *_: done.append("prefetch"), rest=lambda: done.append("rest")
    )
    async with engine_client(address, filler) as client:
        await client.fill(hole())
        client.prefetch(Prefetch(prefix="1", suffix=""))
        await until(lambda: len(done) == 2)
        await asyncio.sleep(12 * PAUSE_S)
        assert done == ["prefetch", "rest"]
        client.prefetch(Prefetch(prefix="2", suffix=""))
        await until(lambda: len(done) == 4)
    assert done == ["prefetch", "rest"] * 2 + ["rest"], "the last one when the engine ended"


ASKED = FindNextEdits(
    id=0,
    parts=(
        TextPart(before="def old():\n", after="def new():\n", may_change=False),
        TextPart(before="old()\n", after="old()\n", may_change=True),
    ),
    example=EditExample(before="def old():\n", after="def new():\n"),
)
find = find_by_rules([rule("old()", "new()")])


class SlowFind:
    """Searches in passes of a millisecond until it is let go; ``at_pass`` has the times."""

    def __init__(self) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.at_pass: list[float] = []

    def __call__(self, request: FindNextEdits, control: FillControl) -> NextEdits:
        while not self.may_end.is_set():
            control.checkpoint()
            self.at_pass.append(time.monotonic())
            self.begun.set()
            time.sleep(0.001)
        return find(request, control)


async def test_the_edits_are_answered(address: Address):
    filler = RuleFiller(lambda _: "1", find=find)
    async with engine_client(address, filler) as client:
        assert (await client.find_next_edits(ASKED)).edits[0].text == "new()\n"
        assert (await client.status()).num_fills == 0


async def test_it_puts_out_no_other_model(address: Address):
    def load(config: EngineConfig, name: str, on_progress: Progress) -> RuleFiller:
        loaded.append(name)
        return RuleFiller(lambda _: "1", find=find, name=name)

    loaded: list[str] = []
    async with (
        in_process_engine(address, load),
        EngineClient(name="test", start=False, address=address) as client,
    ):
        await client.fill(hole())
        with pytest.raises(FillFailed) as error:
            await client.find_next_edits(msgspec.structs.replace(ASKED, model="another"))
        assert error.value.code == "cancelled"
        assert (await client.find_next_edits(ASKED)).edits[0].text == "new()\n"
    assert len(loaded) == 1


async def test_a_model_that_cannot_find_them_says_so_in_one_line(address: Address):
    async with engine_client(address, RuleFiller(lambda _: "1")) as client:
        with pytest.raises(FillFailed, match=r"^this model cannot find next edits$") as error:
            await client.find_next_edits(ASKED)
    assert error.value.code == "bad_request"


async def test_fills_and_a_prefetch_run_inside_and_it_goes_on_after_a_pause(address, monkeypatch):
    monkeypatch.setattr(worker, "PAUSE_S", 0.5)  # an answer comes a little after its end
    search, read = SlowFind(), list[str]()
    filler = RuleFiller(
        lambda _: "1", find=search, prefetch=lambda place, _: read.append(place.prefix)
    )
    async with engine_client(address, filler) as client:
        finding = asyncio.create_task(client.find_next_edits(ASKED))
        await until(search.begun.is_set)
        client.prefetch(Prefetch(prefix="here", suffix=""))
        await until(lambda: read == ["here"])
        for _ in range(3):
            assert (await client.fill(hole())).text == "1"
        answered_at, num_before = time.monotonic(), len(search.at_pass)
        await until(lambda: len(search.at_pass) > num_before)
        assert search.at_pass[num_before] >= answered_at + worker.PAUSE_S / 2
        search.may_end.set()
        assert (await finding).edits[0].text == "new()\n"


async def test_a_search_that_is_awaited_lets_others_go_first_and_goes_on(address: Address):
    search = SlowFind()
    filler = RuleFiller(lambda _: "1", find=search, likely=[])
    awaited = msgspec.structs.replace(ASKED, is_awaited=True)
    scored = ScoreTexts(id=0, prefix="", present="", texts=(), suffix="")
    async with (
        engine_client(address, filler) as client,
        EngineClient(name="other", start=False, address=address) as other,
    ):
        await client.fill(hole())
        finding = asyncio.create_task(client.find_next_edits(awaited))
        await until(search.begun.is_set)
        assert (await other.fill(hole())).text == "1"
        scoring = asyncio.create_task(other.score_texts(scored))
        assert (await other.fill(hole())).text == "1"
        assert not scoring.done()  # it waits for its turn, and ends nothing
        search.may_end.set()
        assert (await finding).edits[0].text == "new()\n"
        await scoring


async def test_it_does_not_end_a_prefetch(address: Address):
    begun, may_end = threading.Event(), threading.Event()
    ended: list[str] = []

    def prefetch(_: Prefetch, control: FillControl) -> None:
        begun.set()
        while not may_end.is_set():
            control.checkpoint()
            time.sleep(0.001)
        ended.append("read")

    def note_and_find(request: FindNextEdits, control: FillControl) -> NextEdits:
        ended.append("found")
        return find(request, control)

    filler = RuleFiller(lambda _: "1", prefetch=prefetch, find=note_and_find)
    async with engine_client(address, filler) as client:
        await client.fill(hole())
        client.prefetch(Prefetch(prefix="here", suffix=""))
        await until(begun.is_set)
        finding = asyncio.create_task(client.find_next_edits(ASKED))
        await client.status()  # answered after the request was read
        may_end.set()
        await finding
    assert ended == ["read", "found"]


@pytest.mark.parametrize("is_cancelled", [True, False])
async def test_a_cancel_and_what_cannot_run_inside_end_it(address: Address, is_cancelled: bool):
    search = SlowFind()
    async with engine_client(address, RuleFiller(lambda _: "1", find=search)) as client:
        finding = asyncio.create_task(client.find_next_edits(ASKED))
        await until(search.begun.is_set)
        if is_cancelled:
            finding.cancel()
            with pytest.raises(asyncio.CancelledError):
                await finding
        assert (await client.fill(hole(is_background=True))).text == "1"
        if not is_cancelled:
            with pytest.raises(FillFailed) as error:
                await finding
            assert error.value.code == "cancelled"
        num_passes = len(search.at_pass)
        await asyncio.sleep(2 * PAUSE_S)
        assert len(search.at_pass) == num_passes
