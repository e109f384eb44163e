"""A newer request of a document ends the older."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from intarsia.lsp.suggestions.latest_request import Debounce, LatestRequest


class Clock:
    """Seconds, told by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def waits(*pauses_s: float, debounce_ms: int = 75) -> list[float]:
    """Return how long each request of one document waits; ``pauses_s`` lie between them."""
    clock = Clock()
    debounce = Debounce(clock)
    found = [debounce.seconds_to_wait("a", debounce_ms)]
    for pause_s in pauses_s:
        clock.now += pause_s
        found.append(debounce.seconds_to_wait("a", debounce_ms))
    return found


@pytest.mark.parametrize(
    ("pauses_s", "debounce_ms", "waited_s"),
    [
        ([], 75, [0]),
        ([0.31, 60], 75, [0, 0, 0]),
        ([0.1, 0.14], 75, [0, 0.075, 0.075]),  # keys in quick succession
        ([0.2, 0.16, 0.2], 75, [0, 0, 0, 0]),  # a steady typist
        ([0.5, 0.7], 300, [0, 0.3, 0]),  # a longer wait is for slower typists
        ([0.1, 0.5, 0.1], 75, [0, 0.075, 0, 0.075]),  # the first key after a pause
        ([0.1], 0, [0, 0]),
    ],
)
def test_only_keys_in_quick_succession_wait(
    pauses_s: list[float], debounce_ms: int, waited_s: list[float]
) -> None:
    assert waits(*pauses_s, debounce_ms=debounce_ms) == waited_s


def test_another_document_has_a_rhythm_of_its_own() -> None:
    debounce = Debounce(Clock())
    assert debounce.seconds_to_wait("a", 75) == 0
    assert debounce.seconds_to_wait("b", 75) == 0


async def run(latest: LatestRequest, uri: str, request: Coroutine[Any, Any, Any]) -> Any:
    """Return the answer, None where a newer request ended this one."""
    latest.end(uri)
    task = asyncio.create_task(request)
    with latest.running(uri, task):
        await asyncio.wait({task})
    return None if task.cancelled() else task.result()


async def answer(text: str, gate: asyncio.Event) -> str:
    await gate.wait()
    return text


async def test_the_older_request_of_a_document_gets_none() -> None:
    latest, gate = LatestRequest(), asyncio.Event()
    older = asyncio.create_task(run(latest, "a", answer("older", gate)))
    await asyncio.sleep(0)
    newer = asyncio.create_task(run(latest, "a", answer("newer", gate)))
    assert await older is None
    gate.set()
    assert await newer == "newer"


async def test_documents_do_not_disturb_each_other() -> None:
    latest, gate = LatestRequest(), asyncio.Event()
    one = asyncio.create_task(run(latest, "a", answer("one", gate)))
    two = asyncio.create_task(run(latest, "b", answer("two", gate)))
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

    request = asyncio.create_task(run(latest, "a", work()))
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
        await run(LatestRequest(), "a", fail())


async def test_end_all_ends_every_request() -> None:
    latest, gate = LatestRequest(), asyncio.Event()
    requests = [asyncio.create_task(run(latest, uri, answer("", gate))) for uri in ("a", "b")]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    latest.end_all()
    assert [await request for request in requests] == [None, None]
