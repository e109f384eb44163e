"""Requests that end early: cancelled, outrun, or stale. Each is answered."""

import asyncio

import pytest
from editor_clients import Page, page
from engine_watch import engine_once
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from rule_server import rule_server, rule_server_command

from intarsia.engine.ipc.address import Address

REQUEST_CANCELLED = -32800
HANGING = rule_server_command(text="x", step_seconds=0.02, num_steps=10_000)
PATIENT = {"deadlineMs": 60_000, "invokedDeadlineMs": 60_000}


async def sent(user: Page, runtime: Address, id: str = "first") -> "asyncio.Future[object]":
    """Send a request; return its answer to come once the engine fills."""
    answer = user.send(0, 4, id)
    await engine_once(runtime, lambda status: status.state == "filling")
    return answer


async def answered(answer: "asyncio.Future[object]") -> object:
    return await asyncio.wait_for(answer, 20)


async def cancelled(user: Page, answer: "asyncio.Future[object]", id: str) -> None:
    user.client.cancel_request(types.CancelParams(id))
    with pytest.raises(JsonRpcException) as raised:
        await answered(answer)
    assert raised.value.code == REQUEST_CANCELLED


async def is_idle(runtime: Address) -> None:
    await engine_once(runtime, lambda status: status.state == "ready")


async def test_a_cancel_reaches_the_engine_and_is_answered(runtime: Address) -> None:
    async with page(runtime, "y = ", server=HANGING, options=PATIENT) as user:
        await cancelled(user, await sent(user, runtime), "first")
        await is_idle(runtime)


async def test_a_cancel_ends_the_wait_for_a_pause(runtime: Address) -> None:
    server = rule_server_command(text="x")
    async with page(runtime, "y = ", server=server, options={"debounceMs": 10_000}) as user:
        user.send(0, 3, "lone")
        answer = user.send(0, 4, "quick")
        await asyncio.sleep(0)
        async with asyncio.timeout(5):
            await cancelled(user, answer, "quick")


async def test_a_newer_request_ends_the_older_which_is_answered_with_null(runtime: Address) -> None:
    async with page(runtime, "y = ", server=HANGING, options=PATIENT) as user:
        older = await sent(user, runtime, "older")
        newer = user.send(0, 3, "newer")
        assert await answered(older) is None
        await cancelled(user, newer, "newer")


async def test_only_the_last_of_a_burst_of_keys_is_filled(runtime: Address) -> None:
    server = rule_server_command(text="x", step_seconds=0.3)
    async with page(runtime, "", server=server, options={"debounceMs": 300}) as user:
        await is_idle(runtime)
        answers = []
        for number in range(1, 6):
            user.change("y = "[:number])
            answers.append(user.send(0, number, f"key {number}"))
        *older, last = [await answered(answer) for answer in answers]
        assert older == [None] * 4
        assert isinstance(last, types.InlineCompletionList)
        await engine_once(runtime, lambda status: status.num_fills == 1)


async def test_a_stale_answer_is_never_sent(runtime: Address) -> None:
    server = rule_server_command(text="x", step_seconds=0.3, num_steps=2)
    async with page(runtime, "y = ", server=server, options=PATIENT) as user:
        answer = await sent(user, runtime)
        user.change("z = 1\ny = ")
        assert await answered(answer) is None
        assert await user.shown(1, 4) == ["x"]


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("y = (to|", "tal + count)"),
        ("y = (|)", "total + count"),  # as an editor closes it
        ("y = z|", "(total + count)"),
        ("x = |", "(total + count)"),
    ],
)
async def test_a_fill_goes_on_while_its_text_is_typed(runtime, typed, shown):
    """A key ends the request before it. Another text, and another edit, end its fill, too."""
    server = rule_server(text="(total + count)", step_seconds=0.3)
    async with page(runtime, "y = ", server=server, options=PATIENT) as user:
        older = await sent(user, runtime)
        user.change(typed.replace("|", ""))
        newer = user.send(0, typed.index("|"), "newer")
        assert await answered(older) is None
        answer = await answered(newer)
        assert isinstance(answer, types.InlineCompletionList)
        assert [item.insert_text for item in answer.items] == [shown]
        await engine_once(runtime, lambda status: status.num_fills == 1)  # to the end


async def test_a_closed_document_ends_its_request(runtime: Address) -> None:
    async with page(runtime, "y = ", server=HANGING, options=PATIENT) as user:
        answer = await sent(user, runtime)
        user.close()
        assert await answered(answer) is None
        await is_idle(runtime)


async def test_shutdown_answers_what_still_runs(runtime: Address) -> None:
    async with page(runtime, "y = ", server=HANGING, options=PATIENT) as user:
        answer, client = await sent(user, runtime), user.client
        await client.shutdown_async(None)
        assert await answered(answer) is None
        client.exit(None)
        assert await client._server.wait() == 0
        client.capabilities = None  # no second shutdown at the end


async def test_a_deadline_gives_what_there_is(runtime: Address) -> None:
    server = rule_server_command(text="a + b + c", step_seconds=0.2, num_steps=1_000)
    async with page(runtime, "y = ", server=server, options={"deadlineMs": 300}) as user:
        await asyncio.wait_for(user.shown(0, 4), 10)
        await is_idle(runtime)


async def test_a_cancel_that_crosses_its_answer_is_no_warning(runtime: Address) -> None:
    server = rule_server_command(text="x")
    async with page(runtime, "y = ", server=server, options=PATIENT) as user:
        await answered(user.send(0, 4, "answered"))
        user.client.cancel_request(types.CancelParams("answered"))
        assert await user.shown(0, 4)
        assert "answered" not in user.log
