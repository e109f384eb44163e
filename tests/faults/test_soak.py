"""A short ``make soak``, and its verdict: it finds leaks, growth and slower answers."""

import asyncio
import itertools

import pytest
from faults.ground import Ground
from soak import record as soak_record
from soak.record import THREADS_OF_POOL, Answer, Record, Sample
from soak.run import Plan, run

MIB = 1 << 20


async def soak(plan: Plan, ground: Ground) -> None:
    """Speed and the growth of memory are judged by the whole hour only."""
    record = await run(plan, ground)
    assert [it for it in record.verdict() if not (it.holds or it.needs_hour)] == []
    assert record.num_compared > plan.seconds // 3
    assert len(record.happened) == plan.seconds // plan.every_s


async def test_all_requests_are_answered_no_text_differs_and_nothing_is_left(ground):
    plan = Plan(seconds=24, every_s=12, warm_up_s=4, num_clients=4, seed=197)
    assert plan.faults() == ["engine_killed", "server_killed"]
    await soak(plan, ground)


@pytest.mark.slow
@pytest.mark.timeout(1_200)
async def test_so_it_is_with_eight_clients_and_ten_faults_in_five_minutes(ground: Ground) -> None:
    await soak(Plan(seconds=300, every_s=30, warm_up_s=20, seed=2), ground)


def failing(record: Record) -> list[str]:
    return [it.name for it in record.verdict() if not it.holds]


def an_hour(*, growth: int = 0, slower_s: float = 0.0) -> Record:
    """Return the record of a server of 100 MiB, with noise and a growth in bytes an hour."""
    record, noise = Record(tenth_s=360, ended_s=3_600), itertools.cycle((0, MIB, -MIB))
    for second in range(0, 3_600, 10):
        rss = 100 * MIB + growth * second // 3_600 + next(noise)
        record.samples.append(Sample(second, "server", 1, rss, 9, 3))
        took_s = 0.1 + (slower_s if second > 3_000 else 0)
        record.answers.append(Answer(0, second, took_s, "text"))
    return record


def test_each_kind_of_failure_is_found() -> None:
    assert failing(an_hour()) == []
    assert failing(an_hour(growth=10 * MIB)) == ["memory of a process: server"]
    assert failing(an_hour(slower_s=0.03)) == ["p99 of the last tenth / of the first"]
    record = an_hour()
    record.answers.append(Answer(client=0, asked_s=1, took_s=1, outcome="nothing"))
    assert failing(record) == ["empty answers without a reason"]


@pytest.mark.parametrize(
    ("after", "is_more"),
    [
        ((1, 9, 3 + THREADS_OF_POOL), False),
        ((1, 9, 4 + THREADS_OF_POOL), True),
        ((1, 10, 3), True),
        ((2, 9, 3), True),
    ],
)
def test_what_is_left_is_found(after: tuple[int, int, int], is_more: bool) -> None:
    record = Record(tenth_s=1, rest_before={"server": (1, 9, 3)}, rest_after={"server": after})
    assert bool(failing(record)) == is_more


async def test_a_request_without_an_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soak_record, "STUCK_AFTER_S", 0)
    record = Record(tenth_s=1)
    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    assert await record.ask(0, never) is None
    assert failing(record) == ["stuck requests"]
