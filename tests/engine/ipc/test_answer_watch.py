"""An engine is asked only where an answer is overdue, and hangs only if nothing speaks for it."""

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from intarsia.engine.ipc import connection
from intarsia.engine.ipc.connection import AnswerWatch
from intarsia.engine.ipc.messages import Status

HANGS_S = connection.HANGS_AFTER_S + 1


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GRACE_S", "ASK_EVERY_S", "STATUS_S", "CONFIRM_S"):
        monkeypatch.setattr(connection, name, 0.02)


def a_status(quiet_s: float, state="filling") -> Status:
    return Status(
        **dict.fromkeys(("model", "family", "device", "dtype")),
        **dict.fromkeys(("id", "pid", "resident_bytes", "cached_tokens", "num_fills"), 0),
        **dict.fromkeys(("uptime_s", "idle_timeout_s"), 0.0),
        build="test",
        state=state,
        notes=(),
        num_clients=1,
        quiet_s=quiet_s,
    )


class Engine:
    """Answers with these statuses, the last one again and again; never where there are none."""

    def __init__(self, *statuses: Status) -> None:
        self._statuses: Sequence[Status] = statuses
        self._next: Iterator[Status] = iter(statuses)
        self.num_asked = 0
        self.asked = asyncio.Event()
        self.reasons: list[str] = []
        self.found = asyncio.Event()
        self.watch = AnswerWatch(self._status, self._found_stuck)

    async def _status(self) -> Status:
        self.num_asked += 1
        self.asked.set()
        if not self._statuses:
            await asyncio.Event().wait()
        return next(self._next, self._statuses[-1])

    def _found_stuck(self, reason: str) -> None:
        self.reasons.append(reason)
        self.found.set()

    async def until_found(self) -> None:
        await asyncio.wait_for(self.found.wait(), 20)
        self.found.clear()


async def test_an_engine_that_answers_in_time_is_asked_nothing() -> None:
    engine = Engine()
    for id in range(100):
        engine.watch.expect(id, 3_600)
        engine.watch.answered(id)
    await asyncio.sleep(0)
    assert engine.num_asked == 0


async def test_one_that_does_not_tell_its_status_hangs() -> None:
    engine = Engine()
    for num_hangs, seconds in ((1, 0.01), (2, 3_600)):  # after a finding less time is given
        engine.watch.expect(1, seconds)
        await engine.until_found()
        assert "has not reported its status" in engine.reasons[-1]
        assert engine.watch.num_hangs == num_hangs
    engine.watch.sign_of_life()
    assert engine.watch.num_hangs == 0


async def test_a_cancelled_request_is_due_at_once() -> None:
    engine = Engine()
    engine.watch.expect(1, 3_600)
    engine.watch.expect_soon(1)
    await engine.until_found()


async def test_a_quiet_model_hangs_if_it_is_as_quiet_when_asked_again() -> None:
    engine = Engine(a_status(HANGS_S), a_status(HANGS_S + 2))
    engine.watch.expect(1, 0.01)
    await engine.until_found()
    assert engine.reasons == ["its model has made no step for 33 s"]
    assert (engine.num_asked, engine.watch.num_hangs) == (2, 1)


async def test_one_slow_step_fails_requests_and_ends_no_engine() -> None:
    engine = Engine(a_status(connection.MAX_QUIET_S + 1))
    for _ in range(3):
        engine.watch.expect(1, 0.01)
        await engine.until_found()
    assert engine.watch.num_hangs == 0


@pytest.mark.parametrize(
    "statuses",
    [
        [a_status(HANGS_S), a_status(0.1)],  # the process was paused, and goes on
        [a_status(1.0)],  # it fills for others
        [a_status(600.0, "loading")],
    ],
)
async def test_an_engine_that_works_is_waited_for(statuses: list[Status]) -> None:
    engine = Engine(*statuses)
    engine.watch.expect(1, 0.01)
    while engine.num_asked < 4:
        engine.asked.clear()
        await asyncio.wait_for(engine.asked.wait(), 20)
    engine.watch.close()
    assert engine.reasons == []
