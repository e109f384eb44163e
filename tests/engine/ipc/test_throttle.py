"""The first value goes out at once, then the newest of each interval."""

import asyncio

from intarsia.engine.ipc.throttle import Paced


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
    paced = Paced(sent, 0.001)
    for value in (1, 2, 3):
        paced.put(value)
    assert sent.values == [1]
    assert await sent.more() == [1, 3]


async def test_after_an_interval_without_values_the_next_is_sent_at_once() -> None:
    sent = Sent()
    paced = Paced(sent, 0)
    paced.put(1)
    paced.put(2)
    await sent.more()
    quiet = asyncio.Event()
    asyncio.get_running_loop().call_later(0, quiet.set)  # behind the end of the interval
    await quiet.wait()
    paced.put(3)
    assert sent.values == [1, 2, 3]


async def test_what_is_dropped_is_not_sent() -> None:
    sent = Sent()
    paced = Paced(sent, 0)
    paced.put(1)
    paced.put(2)
    paced.drop()
    paced.put(3)
    assert await sent.more() == [1, 3]
