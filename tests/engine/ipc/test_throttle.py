"""The first value is sent at once, then the newest of each interval."""

import asyncio

from intarsia.engine.ipc.throttle import Throttle


class Sent:
    """What was sent, and a way to wait for more."""

    def __init__(self) -> None:
        self.values: list[int] = []
        self._changed = asyncio.Event()

    def __call__(self, value: int) -> None:
        self.values.append(value)
        self._changed.set()

    async def more(self) -> list[int]:
        self._changed.clear()
        await asyncio.wait_for(self._changed.wait(), 20)
        return self.values


async def test_the_first_value_is_sent_at_once_and_the_newest_in_its_turn() -> None:
    sent = Sent()
    throttle = Throttle(sent, 0.001)
    for value in (1, 2, 3):
        throttle.put(value)
    assert sent.values == [1]
    assert await sent.more() == [1, 3]


async def test_after_an_interval_without_values_the_next_is_sent_at_once() -> None:
    sent = Sent()
    throttle = Throttle(sent, 0)
    throttle.put(1)
    throttle.put(2)
    await sent.more()
    await _end_of_interval()
    throttle.put(3)
    assert sent.values == [1, 2, 3]


async def test_what_is_dropped_is_not_sent() -> None:
    sent = Sent()
    throttle = Throttle(sent, 0)
    throttle.put(1)
    throttle.put(2)
    throttle.drop()
    throttle.put(3)
    assert await sent.more() == [1, 3]


async def test_after_stop_nothing_is_sent() -> None:
    sent = Sent()
    throttle = Throttle(sent, 0)
    throttle.put(1)
    throttle.put(2)
    throttle.stop()
    throttle.put(3)
    await _end_of_interval()
    throttle.put(4)
    assert sent.values == [1]


async def _end_of_interval() -> None:
    """Return after the timer of an interval of 0 s has run."""
    has_ended = asyncio.Event()
    asyncio.get_running_loop().call_later(0, has_ended.set)
    await has_ended.wait()
