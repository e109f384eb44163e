"""The engine over its socket: order of requests, models, memory, faults of clients and models."""

import asyncio
import logging
import struct
import threading
import weakref
from pathlib import Path

import msgspec
import pytest
from in_process_engine import always, in_process_engine
from raw_client import greeted_client
from rule_engine import RuleFiller

from intarsia.engine.cache.progress import Progress
from intarsia.engine.config import EngineConfig
from intarsia.engine.errors import ModelError, NoRoomError
from intarsia.engine.filler import Filler
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient, EngineError, FillFailed
from intarsia.engine.ipc.messages import (
    MAX_FRAME_BYTES,
    Cancel,
    Failed,
    Fill,
    Filled,
    GetStatus,
    Status,
    Step,
)
from intarsia.engine.service import process
from intarsia.engine.service.failures import LoadFailure
from intarsia.engine.service.model_slot import FAILURE_KEPT_S, ModelSlot

FOREVER = 1_000_000
PATIENCE_S = 20.0


def hole(id: int = 0, prefix: str = "", **fields: object) -> Fill:
    return Fill(id=id, prefix=prefix, suffix="", **fields)


def a_client(address: Address) -> EngineClient:
    return EngineClient(name="test", start=False, address=address)


class Gate:
    """A rule that stops the worker at the prefix ``hold`` and records the order of the requests."""

    def __init__(self) -> None:
        self.has_begun = threading.Event()
        self.open = threading.Event()
        self.order: list[str] = []

    def __call__(self, request: Fill) -> str:
        self.order.append(request.prefix)
        if request.prefix == "hold":
            self.has_begun.set()
            self.open.wait(PATIENCE_S)
        return request.prefix

    async def until_held(self) -> None:
        assert await asyncio.to_thread(self.has_begun.wait, PATIENCE_S)


async def receive_answers(client, ids: set[int]) -> dict[int, object]:
    answers: dict[int, object] = {}
    while set(answers) != ids:
        message = await client.receive()
        if isinstance(message, Filled | Failed) and message.id is not None:
            answers[message.id] = message
    return answers


async def status_of(client) -> Status:
    client.send(GetStatus(id=1000))
    while not isinstance(message := await client.receive(), Status):
        pass
    return message


async def test_many_requests_of_one_client_do_not_delay_one_of_another(address: Address):
    gate = Gate()
    async with (
        in_process_engine(address, always(RuleFiller(gate))),
        greeted_client(address) as often,
        greeted_client(address) as once,
    ):
        often.send(hole(1, "hold"))
        await gate.until_held()
        once.send(hole(1, "once"))
        await status_of(once)
        for id in range(2, 6):
            often.send(hole(id, f"often {id}"))
        await status_of(often)  # so all five wait
        gate.open.set()
        await receive_answers(often, {1, 2, 3, 4, 5})
        await receive_answers(once, {1})
    assert gate.order[:3] == ["hold", "once", "often 5"]


async def test_an_id_in_flight_cannot_be_used_again(address: Address):
    gate = Gate()
    async with (
        in_process_engine(address, always(RuleFiller(gate))),
        greeted_client(address) as client,
    ):
        client.send(hole(1, "hold"))
        client.send(hole(1, "again"))
        answer = (await receive_answers(client, {1}))[1]
        assert isinstance(answer, Failed)
        assert "the id 1 is in flight" in answer.message
        gate.open.set()
        assert isinstance((await receive_answers(client, {1}))[1], Filled)


async def test_a_cancel_is_of_the_clients_own_fill_and_answered_at_once(address: Address):
    gate = Gate()
    async with (
        in_process_engine(address, always(RuleFiller(gate))),
        greeted_client(address) as one,
        greeted_client(address) as other,
    ):
        one.send(hole(1, "hold"))
        await gate.until_held()
        other.send(hole(1, "other's"))
        other.send(Cancel(id=1))
        answer = (await receive_answers(other, {1}))[1]
        assert isinstance(answer, Failed), "at once, though another fill runs"
        assert answer.code == "cancelled"
        gate.open.set()
        assert isinstance((await receive_answers(one, {1}))[1], Filled)
    assert gate.order == ["hold"], "what waited never ran"


async def test_the_fills_of_a_client_that_vanishes_are_cancelled(any_address: Address):
    filler = RuleFiller(lambda _: "x", 0.001, num_steps=FOREVER)
    async with in_process_engine(any_address, always(filler)), a_client(any_address) as stays:
        async with greeted_client(any_address) as vanishes:
            for id in range(3):
                vanishes.send(hole(id, watch=True))
            while not isinstance(await vanishes.receive(), Step):
                pass
        async with asyncio.timeout(PATIENCE_S):
            assert (await stays.fill(hole(max_steps=2))).num_forwards == 2
        assert (await stays.status()).num_clients == 1


def frame(body: object) -> bytes:
    data = msgspec.msgpack.encode(body)
    return struct.pack(">I", len(data)) + data


@pytest.mark.parametrize(
    "data",
    [
        struct.pack(">I", MAX_FRAME_BYTES + 1),
        struct.pack(">I", 1) + b"\xc1",
        frame({"type": "welcome", "protocol": 1, "build": "", "pid": 1}),
        frame({"type": "fill", "id": "x", "prefix": b"\xff", "suffix": None}),
        frame({"type": "preload", "id": 2**64 - 1, "model": ["x"]}),
    ],
)
async def test_a_bad_frame_is_answered_and_ends_that_connection_only(any_address, data):
    filler = RuleFiller(lambda _: "fine")
    async with in_process_engine(any_address, always(filler)), a_client(any_address) as other:
        await other.status()
        async with greeted_client(any_address) as bad:
            bad.send_bytes(data)
            answer = await bad.receive()
            assert isinstance(answer, Failed)
            assert (answer.id, answer.code) == (None, "bad_request")
            assert await bad.receive() is None
        assert (await other.fill(hole())).text == "fine"


async def test_another_model_replaces_the_one_in_memory(address: Address):
    loaded: list[tuple[str, int]] = []
    alive: list[weakref.ref[RuleFiller]] = []

    def load(_: EngineConfig, model: str, __: Progress) -> Filler:
        loaded.append((model, sum(filler() is not None for filler in alive)))
        filler = RuleFiller(lambda _: model, name=model)
        alive.append(weakref.ref(filler))
        return filler

    async with in_process_engine(address, load, model="first"), a_client(address) as client:
        texts = [
            (await client.fill(hole(model=model))).text
            for model in (None, "first", "second", None, "first")
        ]
    assert texts == ["first", "first", "second", "second", "first"]
    assert loaded == [("first", 0), ("second", 0), ("first", 0)]  # never two in memory


class PanicException(BaseException):
    """Has the name of a panic in Rust code, which is not an Exception either."""


class OutOfMemoryError(RuntimeError):
    """Has the name of torch's own error."""


TOO_BIG = r"loading big: close .* smaller model"


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (MemoryError(), "out_of_memory", TOO_BIG),
        (OutOfMemoryError("CUDA"), "out_of_memory", TOO_BIG),
        (RuntimeError("CPUAllocator: can't allocate memory"), "out_of_memory", TOO_BIG),
        (OSError(12, "Cannot allocate memory"), "out_of_memory", TOO_BIG),
        (PanicException("out of bounds"), "internal", "PanicException while loading big"),
    ],
)
async def test_a_load_that_fails_says_what_to_do_and_the_engine_lives(
    address, error, code, message
):
    errors = [error]

    def load(_: EngineConfig, model: str, __: Progress) -> Filler:
        if errors:
            raise errors.pop()
        return RuleFiller(lambda _: "now it fits")

    async with in_process_engine(address, load, model="big"), a_client(address) as client:
        with pytest.raises(FillFailed, match=message) as caught:
            await client.fill(hole())
        assert caught.value.code == code
        if code == "out_of_memory":
            assert (await client.fill(hole())).text == "now it fits"
        else:
            assert (await client.status()).state == "idle"


@pytest.mark.parametrize("error", [KeyError("two\nlines"), PanicException("retry-limit over")])
async def test_an_unexpected_error_of_the_model_is_one_line_and_the_engine_lives(
    address, caplog, error
):
    def rules(request: Fill) -> str:
        if request.prefix == "bad":
            raise error
        return "fine"

    async with (
        asyncio.timeout(PATIENCE_S),
        in_process_engine(address, always(RuleFiller(rules))),
        a_client(address) as client,
    ):
        with pytest.raises(FillFailed, match=f"{type(error).__name__} while filling") as caught:
            await client.fill(hole(prefix="bad"))
        assert caught.value.code == "internal"
        assert "\n" not in str(caught.value)
        assert (await client.status()).state == "ready"
        assert (await client.fill(hole())).text == "fine"
    assert any(record.exc_info for record in caplog.records)  # the log has the traceback


class Unspeakable(BaseException):
    """An error without a text: its report fails too, which ends the worker's thread."""

    def __str__(self) -> str:
        raise self


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_an_engine_whose_thread_has_ended_ends(address: Address):
    def rules(_: Fill) -> str:
        raise Unspeakable

    async with asyncio.timeout(PATIENCE_S):
        async with (
            in_process_engine(address, always(RuleFiller(rules))),
            a_client(address) as client,
        ):
            with pytest.raises(EngineError):
                await client.fill(hole())
            assert not address.socket_path.exists()  # the next client starts another engine


async def test_the_status_tells_what_the_engine_does(address: Address):
    gate = Gate()
    async with (
        in_process_engine(address, always(RuleFiller(gate)), idle_timeout_s=77),
        greeted_client(address) as client,
    ):
        before = await status_of(client)
        client.send(hole(1, "hold"))
        await gate.until_held()
        during = await status_of(client)
        gate.open.set()
        await receive_answers(client, {1})
        after = await status_of(client)
    assert [status.state for status in (before, during, after)] == ["idle", "filling", "ready"]
    assert (before.model, after.model, after.family) == (None, "rules", "rules")
    assert (before.num_fills, after.num_fills, after.cached_tokens) == (0, 1, len("hold"))
    assert after.resident_bytes > 1_000_000
    assert (after.idle_timeout_s, after.num_clients) == (77, 1)


async def test_only_the_user_can_reach_the_engine(any_address: Address):
    async with in_process_engine(any_address, always(RuleFiller(lambda _: ""))):
        modes = {path.name: path.stat().st_mode & 0o777 for path in any_address.directory.iterdir()}
        assert any_address.directory.stat().st_mode & 0o777 == 0o700
    way_in = "engine.sock" if any_address.transport == "unix" else "engine.port"
    assert modes[way_in] == 0o600


class Models:
    """Records what is done with which model.

    ``wrong`` models fail the check; ``heavy`` ones pass it and fail at the load.
    """

    def __init__(self, wrong=None, heavy=None, default="default") -> None:
        self.wrong = wrong or set()
        self.heavy = heavy or {}
        self.done: list[str] = []
        self.now = 1_000.0
        self.slot = ModelSlot(
            EngineConfig(model=default),
            self.load,
            lambda stage, share: None,
            check_model=self.check,
            clock=lambda: self.now,
        )

    def check(self, _: EngineConfig, model: str, __: Progress) -> None:
        self.done.append(f"check {model}")
        if model in self.wrong:
            raise ModelError(f"no model {model!r}: looked for a config.json")

    def load(self, config: EngineConfig, model: str, on_progress: Progress) -> Filler:
        self.done.append(f"load {model}")
        if model in self.heavy:
            raise self.heavy[model]
        return RuleFiller(lambda _: model, name=model)

    def refused(self, model: str) -> LoadFailure:
        with pytest.raises(LoadFailure) as caught:
            self.slot.take(model)
        return caught.value


async def test_another_client_keeps_its_model(address: Address):
    models = Models(wrong={"wrong"})
    async with (
        in_process_engine(address, models.load, check_model=models.check, model="good"),
        EngineClient(name="test", start=False, address=address) as client,
    ):
        for _ in range(3):
            assert (await client.fill(hole())).text == "good"
            with pytest.raises(FillFailed, match="looked for") as caught:
                await client.fill(hole(model="wrong"))
            assert caught.value.code == "model"
        assert (await client.status()).state == "ready"
    assert models.done == ["load good", "check wrong"]


def test_a_model_is_checked_before_the_loaded_one_is_dropped():
    models = Models()
    for model in ("one", "two", "two", "one"):
        models.slot.take(model)
    assert models.done == ["load one", "check two", "load two", "check one", "load one"]


def test_a_name_that_failed_is_tried_again_after_a_while():
    models = Models(wrong={"wrong"})
    good = models.slot.take("good")
    first = models.refused("wrong")
    models.now += FAILURE_KEPT_S - 1
    again = models.refused("wrong")
    assert (first.code, str(first)) == (again.code, str(again))
    assert models.done == ["load good", "check wrong"]
    models.now += 1
    models.refused("wrong")
    assert models.done == ["load good", "check wrong", "check wrong"]
    models.now += FAILURE_KEPT_S
    models.wrong.clear()
    assert models.slot.take("good") is good
    assert models.slot.take("wrong") is not good


def test_a_failed_load_is_remembered_too_and_the_previous_model_is_loaded_once():
    models = Models(heavy={"odd": IndexError("no layers")})
    models.slot.take("good")
    for _ in range(3):
        failure = models.refused("odd")
        assert (failure.code, "loading odd" in str(failure)) == ("internal", True)
        if models.done[-1] == "load good":  # a traceback would keep the frames, and so the weights
            assert failure.__cause__ is failure.__context__ is None
        models.slot.take(None)
    assert models.done == ["load good", "check odd", "load odd", "load good"]


@pytest.mark.parametrize(
    ("error", "code"),
    [(MemoryError(), "out_of_memory"), (NoRoomError("2 GiB are free: close something"), "model")],
)
def test_a_load_without_room_is_tried_again_at_once(error: Exception, code: str):
    models = Models(heavy={"big": error})
    assert models.refused("big").code == code
    models.heavy.clear()
    assert models.slot.take("big").info.name == "big"


TUNED = "base+/home/me/boxes-1/tuning.safetensors"


@pytest.mark.parametrize(
    ("default", "asked", "loaded"),
    [
        ("first", (TUNED, None, None, TUNED, "other", None), [TUNED, "base", TUNED, "other"]),
        (TUNED, (None, None), [TUNED]),  # that an engine was started with is for every request
    ],
)
def test_a_request_without_a_model_gets_the_last_one_without_its_tuning(default, asked, loaded):
    models = Models(default=default)
    for model in asked:
        models.slot.take(model)
    assert [it.removeprefix("load ") for it in models.done if it.startswith("load")] == loaded


def test_a_log_file_beyond_its_bound_is_emptied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(process, "MAX_LOG_BYTES", 100)
    path = tmp_path / "engine.log"
    with path.open("a") as stream:
        handler = process.BoundedHandler(stream)
        for number in range(1000):
            handler.emit(logging.makeLogRecord({"msg": f"record {number:04}"}))
    assert path.stat().st_size <= 112
    assert path.read_text().endswith("record 0999\n")


def test_escapes_in_a_name_are_shown_and_a_traceback_keeps_its_lines() -> None:
    formatter = process.PrintableFormatter("%(message)s")
    try:
        raise ValueError("\x1b[2J")
    except ValueError as error:
        record = logging.makeLogRecord({"msg": "no model %s", "args": ("a\x1b]0;b\x07\u202e",)})
        record.exc_info = (type(error), error, error.__traceback__)
    first, *others = formatter.format(record).split("\n")
    assert first == "no model a\\x1b]0;b\\x07\\u202e"
    assert others[-1] == "ValueError: \\x1b[2J"
