"""A failed engine is started again later and later, at most 30 seconds later."""

import pytest
from temporary_address import temporary_address

from intarsia.engine.ipc.errors import EngineUnavailable
from intarsia.engine.ipc.launch import LaunchOptions
from intarsia.engine.ipc.link import Backoff, Link


def test_the_delay_doubles_from_half_a_second_to_thirty():
    backoff = Backoff(clock=lambda: 100.0)
    assert backoff.seconds_left() == 0
    delays = []
    for _ in range(100):
        backoff.failed()
        delays.append(backoff.seconds_left())
    assert delays[:8] == [0.5, 1, 2, 4, 8, 16, 30, 30]
    assert delays[-1] == 30


def test_time_and_success_end_the_delay():
    now = 100.0
    backoff = Backoff(clock=lambda: now)
    backoff.failed()
    now += 0.2
    assert backoff.seconds_left() == pytest.approx(0.3)
    now += 1
    assert backoff.seconds_left() == 0
    backoff.failed()
    backoff.succeeded()
    assert (backoff.seconds_left(), backoff.num_failures) == (0, 0)


async def test_a_long_delay_is_an_error_at_once():
    backoff = Backoff(clock=lambda: 100.0)
    for _ in range(5):
        backoff.failed()
    with temporary_address() as address:
        link = Link(name="test", address=address, launch=LaunchOptions(), backoff=backoff)
        with pytest.raises(EngineUnavailable, match=r"failed 5 times in a row.*again in 8 s"):
            await link.connection()
        await link.close()
