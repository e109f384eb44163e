"""A newer request of a document ends the older."""

import asyncio

import pytest

from intarsia.lsp.suggestions.latest_request import LatestRequest


async def answer(text: str, gate: asyncio.Event) -> str:
    await gate.wait()
    return text


async def test_the_older_request_of_a_document_gets_none() -> None:
    latest, gate = LatestRequest(), asyncio.Event()
    older = asyncio.create_task(latest.run("a", answer("older", gate)))
    await asyncio.sleep(0)
    newer = asyncio.create_task(latest.run("a", answer("newer", gate)))
    assert await older is None
    gate.set()
    assert await newer == "newer"


async def test_documents_do_not_disturb_each_other() -> None:
    latest, gate = LatestRequest(), asyncio.Event()
    one = asyncio.create_task(latest.run("a", answer("one", gate)))
    two = asyncio.create_task(latest.run("b", answer("two", gate)))
    await asyncio.sleep(0)
    gate.set()
    assert (await one, await two) == ("one", "two")


async def test_a_cancelled_request_cancels_its_work() -> None:
    latest, gate = LatestRequest(), asyncio.Event()
    is_cancelled = asyncio.Event()

    async def work() -> None:
        try:
            await gate.wait()
        except asyncio.CancelledError:
            is_cancelled.set()
            raise

    request = asyncio.create_task(latest.run("a", work()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    await is_cancelled.wait()


async def test_a_failing_request_raises_for_its_own_caller() -> None:
    async def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await LatestRequest().run("a", fail())


async def test_end_all_ends_every_request() -> None:
    latest, gate = LatestRequest(), asyncio.Event()
    requests = [asyncio.create_task(latest.run(uri, answer("", gate))) for uri in ("a", "b")]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    latest.end_all()
    assert [await request for request in requests] == [None, None]
