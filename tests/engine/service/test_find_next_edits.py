"""Next edits are found in idle time only: any other request goes first."""

import asyncio
import threading
import time
from collections.abc import Callable

import msgspec
import pytest
from in_process_engine import engine_client, in_process_engine
from rule_filler import RuleFiller
from scripted_next_edits import find_by_rules, rule

from intarsia.engine.cache.progress import Progress
from intarsia.engine.config import EngineConfig
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient, FillFailed
from intarsia.engine.ipc.messages import (
    EditExample,
    Fill,
    FindNextEdits,
    NextEdits,
    Prefetch,
    TextPart,
)
from intarsia.engine.service import worker

ASKED = FindNextEdits(
    id=0,
    parts=(
        TextPart(before="def old():\n", after="def new():\n", may_change=False),
        TextPart(before="old()\n", after="old()\n", may_change=True),
    ),
    example=EditExample(before="def old():\n", after="def new():\n"),
)
find = find_by_rules([rule("old()", "new()")])


def texts(answer: NextEdits) -> list[str]:
    return [edit.text for edit in answer.edits]


def hole(**fields: bool) -> Fill:
    return Fill(id=0, prefix="x = ", suffix="", **fields)


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


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not is_so():  # noqa: ASYNC110 a thread's doing is waited for
            await asyncio.sleep(0.005)


async def test_the_edits_are_answered(address: Address):
    filler = RuleFiller(lambda _: "1", find=find)
    async with engine_client(address, filler) as client:
        assert texts(await client.find_next_edits(ASKED)) == ["new()\n"]
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
        assert texts(await client.find_next_edits(ASKED)) == ["new()\n"]
    assert len(loaded) == 1


async def test_a_model_that_cannot_find_them_says_so_in_one_line(address: Address):
    async with engine_client(address, RuleFiller(lambda _: "1")) as client:
        with pytest.raises(FillFailed, match=r"^this model cannot find next edits$") as error:
            await client.find_next_edits(ASKED)
    assert error.value.code == "bad_request"


async def test_fills_run_inside_and_it_goes_on_after_a_pause(address: Address):
    search = SlowFind()
    async with engine_client(address, RuleFiller(lambda _: "1", find=search)) as client:
        finding = asyncio.create_task(client.find_next_edits(ASKED))
        await until(search.begun.is_set)
        for _ in range(3):
            assert (await client.fill(hole())).text == "1"
        answered_at, num_before = time.monotonic(), len(search.at_pass)
        await until(lambda: len(search.at_pass) > num_before)
        assert search.at_pass[num_before] >= answered_at + worker.PAUSE_S * 0.9
        search.may_end.set()
        assert texts(await finding) == ["new()\n"]


async def test_a_prefetch_goes_before_it(address: Address):
    read: list[str] = []
    search = SlowFind()
    filler = RuleFiller(
        lambda _: "1", find=search, prefetch=lambda place, _: read.append(place.prefix)
    )
    async with engine_client(address, filler) as client:
        finding = asyncio.create_task(client.find_next_edits(ASKED))
        await until(search.begun.is_set)
        client.prefetch(Prefetch(prefix="here", suffix=""))
        await until(lambda: read == ["here"])
        search.may_end.set()
        assert texts(await finding) == ["new()\n"]


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
        await asyncio.sleep(0.1)
        may_end.set()
        await finding
    assert ended == ["read", "found"]


async def test_what_cannot_run_inside_ends_it(address: Address):
    search = SlowFind()
    async with engine_client(address, RuleFiller(lambda _: "1", find=search)) as client:
        finding = asyncio.create_task(client.find_next_edits(ASKED))
        await until(search.begun.is_set)
        assert (await client.fill(hole(is_background=True))).text == "1"
        with pytest.raises(FillFailed) as error:
            await finding
        assert error.value.code == "cancelled"


async def test_a_cancel_ends_it(address: Address):
    search = SlowFind()
    async with engine_client(address, RuleFiller(lambda _: "1", find=search)) as client:
        finding = asyncio.create_task(client.find_next_edits(ASKED))
        await until(search.begun.is_set)
        finding.cancel()
        num_passes = -1
        async with asyncio.timeout(10):
            while num_passes != len(search.at_pass):
                num_passes = len(search.at_pass)
                await asyncio.sleep(0.1)
        assert (await client.status()).state == "ready"
