"""A client that asked knows how suggestions are doing, and why there was none."""

from collections.abc import Callable
from typing import Any

import pytest
from editor_clients import neovim, vscode
from engine_watch import until
from extended_client import Message, notified, told_page
from lsprotocol import types
from rule_server import rule_server_command

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.messages import LoadProgress
from intarsia.lsp.status import Facts, LastRequest, StatusReporter, status_of

STATUS = "intarsia/status"
LOADING = LoadProgress(stage="reading weights", fraction=0.5)
LAST = LastRequest(
    uri="file:///a.py",
    shown=True,
    reason=None,
    unsure=False,
    failed=False,
    ms=12.5,
    read_ms=2.5,
    num_forwards=3,
    tokens_read=10,
    tokens_reused=90,
    tokens_written=4,
    mean_entropy=0.5,
    from_cache=False,
)


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        (Facts(), "ready"),
        (Facts(is_enabled=False, failure="no", num_waiting=1), "off"),
        (Facts(num_waiting=1), "starting"),
        (Facts(num_waiting=1, num_fills=1), "starting"),
        (Facts(num_waiting=1, is_up=True), "ready"),
        (Facts(num_waiting=1, num_fills=1, is_up=True), "working"),
        (Facts(num_waiting=1, num_fills=1, loading=LOADING), "loading"),
        (Facts(failure="no"), "failed"),
        (Facts(failure="no", num_waiting=1, num_fills=1), "failed"),
    ],
)
def test_the_state_is_what_tells_most(facts: Facts, state: str) -> None:
    assert status_of(facts).state == state


def test_a_failure_and_a_load_say_more() -> None:
    assert status_of(Facts(failure="do this")).message == "do this"
    loading = status_of(Facts(num_waiting=1, loading=LOADING))
    assert (loading.message, loading.progress) == ("reading weights", 0.5)


class Told:
    """What a status line has sent."""

    def __init__(self) -> None:
        self.all: list[Any] = []
        self.line = StatusReporter(lambda method, status: self.all.append(status))

    @property
    def states(self) -> list[str]:
        return [status.state for status in self.all]


async def test_what_does_not_change_is_not_told_again() -> None:
    told = Told()
    told.line.start()
    told.line.set_enabled(True)

    def is_quiet() -> bool:
        told.line.request_answered(LAST)
        return bool(told.all[-1].last == LAST)

    await until(is_quiet)
    assert len(told.all) == 2


async def test_a_failure_holds_until_something_goes_right() -> None:
    told = Told()
    line = told.line
    line.failed("the model is missing: pull it")
    assert told.all == []  # a line that was not started is silent
    with line.busy(None, is_connected=True, is_fill=True):
        line.start()
    assert told.states == ["failed"]
    line.engine_answered("m")
    await until(lambda: told.all[-1].state == "ready")
    assert told.all[-1].model == "m"
    assert told.all[-1].message is None


async def test_an_engine_that_went_away_meanwhile_is_started_again() -> None:
    told = Told()
    told.line.engine_answered("m")
    with told.line.busy(None, is_connected=False, is_fill=True):
        told.line.start()
    assert told.states == ["starting"]


async def test_only_a_load_that_is_waited_for_here_is_shown() -> None:
    told = Told()
    told.line.loading(LOADING)
    told.line.start()
    assert told.states == ["ready"]
    told = Told()
    with told.line.busy("m", is_connected=True, is_fill=False):
        told.line.engine_answered("m")
    with told.line.busy("m", is_connected=True, is_fill=True):
        told.line.loading(LOADING)
        told.line.start()
        assert told.states == ["working"]
    with told.line.busy("n", is_connected=True, is_fill=False):
        told.line.loading(LOADING)
        told.line.start()
    assert told.states == ["working", "loading"]


async def status_once(messages: list[Message], holds: Callable[[Any], bool]) -> Any:
    await until(lambda: any(map(holds, notified(messages, STATUS)[-1:])))
    return notified(messages, STATUS)[-1]


def states(messages: list[Message]) -> list[str]:
    """Return the states one after the other, each once."""
    told = [status["state"] for status in notified(messages, STATUS)]
    return [state for at, state in enumerate(told) if at == 0 or state != told[at - 1]]


async def test_a_load_is_followed_from_start_to_ready(runtime: Address) -> None:
    server = rule_server_command(text="1", load_seconds=0.5)
    async with told_page(runtime, "", "status", server=server) as (user, messages):
        status = await status_once(messages, lambda status: status["state"] == "loading")
        assert status["message"] == "loading"
        assert 0 <= status["progress"] <= 1
        status = await status_once(messages, lambda status: status["model"] is not None)
        assert states(messages)[-3:] == ["starting", "loading", "ready"]
        assert (status["message"], status["progress"], status["last"]) == (None, None, None)
        assert user.client.progress_reports == {}  # not told a second time in LSP's own words


async def test_a_request_is_work_and_then_the_last_one(runtime: Address) -> None:
    model = {"text": "a + b", "num_steps": 4, "step_seconds": 0.1}
    async with told_page(runtime, "y = ", "status", **model) as (user, messages):
        await status_once(messages, lambda status: status["model"] is not None)
        assert await user.shown(0, 4)
        status = await status_once(messages, lambda status: status["last"] is not None)
        assert states(messages)[-2:] == ["working", "ready"]
        last = status["last"]
        ms = last.pop("ms")
        assert ms >= 400
        figures = f"{ms:.0f} ms · 4 forward passes · 3 tokens read · 0 reused"
        assert status["told"] == ["Last: a suggestion was shown", figures]
        assert last == {
            "uri": user.uri,
            "shown": True,
            "reason": None,
            "unsure": False,
            "failed": False,
            "readMs": 0.0,
            "numForwards": 4,
            "tokensRead": 3,
            "tokensReused": 0,
            "tokensWritten": 3,
            "meanEntropy": 0.0,
            "fromCache": False,
        }
        assert await user.shown(0, 4)
        status = await status_once(messages, lambda status: status["last"]["fromCache"])
        assert (status["last"]["shown"], status["last"]["ms"]) == (True, None)
        assert status["told"][1] == "known before, not asked again"


@pytest.mark.parametrize("who", [vscode, neovim])
async def test_why_nothing_was_shown_is_told(runtime, who):
    async with told_page(runtime, "y = ", "status", who=who(), text="") as (user, messages):
        if who is vscode:
            assert await user.shown(0, 4) == []
        else:
            await user.menu(0, 4)
        status = await status_once(messages, lambda status: status["last"] is not None)
        assert (status["last"]["shown"], status["last"]["fromCache"]) == (False, False)
        assert status["last"]["reason"] == "the model wrote nothing"
        assert not status["last"]["failed"]


async def test_off_is_told_and_ready_again(runtime: Address) -> None:
    off = {"enabled": False}
    async with told_page(runtime, "", "status", options=off, text="1") as (user, messages):
        await status_once(messages, lambda status: status["state"] == "off")
        user.client.set_configuration({"enabled": True}, section="intarsia")
        params = types.DidChangeConfigurationParams(None)
        user.client.workspace_did_change_configuration(params)
        status = await status_once(messages, lambda status: status["model"] is not None)
        assert status["state"] == "ready"


@pytest.mark.parametrize(
    ("model", "said"), [("missing-model", "intarsia pull"), ("huge-model", "memory")]
)
async def test_a_model_that_cannot_be_loaded_has_failed(runtime, model, said):
    how = {"options": {"model": model}, "text": "1"}
    async with told_page(runtime, "y = ", "status", **how) as (user, messages):
        status = await status_once(messages, lambda status: status["state"] == "failed")
        assert said in status["message"]
        assert await user.shown(0, 4) == []
        (message,) = user.client.messages  # it is told once
        assert said in message.message
        assert message.type == types.MessageType.Warning
        assert "no suggestion: the engine gave no answer" in user.log
