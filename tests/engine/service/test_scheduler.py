"""The order of jobs: fair between queues, the newest of a queue first, none waits for ever."""

import random

import pytest

from intarsia.engine.service import scheduler
from intarsia.engine.service.scheduler import OLDEST_EVERY, Scheduler, UsualTimes


def waiting(*names: str) -> Scheduler[str]:
    """Jobs named by their queue's letter and a number."""
    jobs = Scheduler[str]()
    for name in names:
        jobs.add(name[0], name)
    return jobs


def in_order(jobs: Scheduler[str]) -> list[str]:
    return [job for _ in range(len(jobs)) if (job := jobs.pop()) is not None]


def test_the_newest_job_of_a_queue_goes_first():
    assert in_order(waiting("a1", "a2", "a3")) == ["a3", "a2", "a1"]


def test_the_queue_served_least_recently_goes_first():
    jobs = waiting("a1", "b1", "c1")
    assert in_order(jobs) == ["a1", "b1", "c1"]
    for job in ("c2", "b2", "a2", "b3"):
        jobs.add(job[0], job)
    assert in_order(jobs) == ["a2", "b3", "c2", "b2"]


def test_the_oldest_job_of_a_flooding_queue_is_served():
    jobs = waiting("a0")
    served = []
    for number in range(1, OLDEST_EVERY + 1):
        jobs.add("a", f"a{number}")
        served.append(jobs.pop())
    assert served == [*(f"a{number}" for number in range(1, OLDEST_EVERY)), "a0"]
    assert jobs.pop() == f"a{OLDEST_EVERY}", "and then the newest goes first again"


def test_a_pop_that_passes_no_job_over_brings_the_oldest_no_nearer():
    jobs = Scheduler[str]()
    for number in range(OLDEST_EVERY - 1):
        jobs.add("a", f"a{number}")
        assert jobs.pop() == f"a{number}"
    jobs.add("a", "older")
    jobs.add("a", "newer")
    assert jobs.pop() == "newer"


def test_a_new_queue_goes_after_those_with_jobs():
    jobs = waiting("a1", "b1")
    served = []
    for number in range(2):
        jobs.add(number, f"new {number}")
        served.append(jobs.pop())
    assert served == ["a1", "b1"]


def test_a_new_queue_goes_before_the_empty_ones():
    jobs = waiting("a1", "b1")
    assert jobs.pop() == "a1"
    jobs.add("c", "c1")
    jobs.add("a", "a2")
    assert in_order(jobs) == ["b1", "c1", "a2"]


def test_a_job_that_is_not_allowed_keeps_its_place():
    jobs = waiting("a1", "b1", "b2")
    assert jobs.pop(lambda job: job == "b1") == "b1"
    assert jobs.pop(lambda job: job == "c1") is None
    assert in_order(jobs) == ["a1", "b2"]


def test_a_removed_job_is_gone_and_all_others_are_popped_at_once():
    jobs = waiting("a1", "a2", "b1", "a3")
    assert jobs.remove("a2")
    assert not jobs.remove("a2")
    assert (len(jobs), sorted(jobs.pop_all())) == (3, ["a1", "a3", "b1"])
    assert (len(jobs), jobs.pop()) == (0, None)


def test_no_more_queues_are_remembered_than_the_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(scheduler, "MAX_QUEUES", 3)
    jobs = waiting("w1")
    for number in range(20):
        jobs.add(number, f"{number}")
        assert jobs.pop(lambda job: job != "w1") == f"{number}"
        assert len(jobs._queues) <= 3
    assert jobs.pop() == "w1", "it is not forgotten while it waits"


@pytest.mark.parametrize("hundred", range(10))
def test_no_job_waits_for_more_pops_than_promised(hundred: int):
    """A hundred schedules each: queues that flood, that ask seldom, that cancel jobs.

    A queue is served once in ``num_queues`` pops. Its oldest job is popped once in ``OLDEST_EVERY``
    of these.
    """
    for seed in range(100 * hundred, 100 * hundred + 100):
        chance = random.Random(seed)
        num_queues = chance.randint(1, 8)
        how_often = [chance.choice([0.02, 0.2, 0.6, 1.2]) for _ in range(num_queues)]
        jobs, came = (
            Scheduler[int](),
            dict[int, tuple[int, int]](),
        )  # job → when it came, most pops to wait
        num_jobs = num_out = now = 0
        while now < 50 or jobs:
            for key in range(num_queues):
                asks = how_often[key] * chance.random() * 2 if now < 50 else 0.0
                for _ in range(int(asks) + (chance.random() < asks % 1)):
                    older = len([job for job in came if job % num_queues == key])
                    job = num_jobs * num_queues + key
                    num_jobs += 1
                    jobs.add(key, job)
                    most = num_queues * OLDEST_EVERY * (older + 1)
                    came[job] = now, most
            if came and chance.random() < 0.1:
                cancelled = chance.choice(list(came))
                assert jobs.remove(cancelled)
                del came[cancelled]
                num_out += 1
            if (served := jobs.pop()) is not None:
                since, most = came.pop(served)
                assert now - since < most, f"schedule {seed}"
                num_out += 1
            now += 1
        assert (num_out, came) == (num_jobs, {})


@pytest.fixture
def times() -> UsualTimes:
    times = UsualTimes()
    usual = {"ann": 0.1, "bob": 1.0, "cyd": 0.25, "dan": 0.001, "eve": 0.04}
    for client, seconds in usual.items():
        times.note(client, seconds)
    return times


@pytest.mark.parametrize(
    ("one", "other", "run_s", "is_shorter"),
    [
        ("ann", "bob", 0.0, True),
        ("bob", "ann", 0.0, False),
        ("bob", "bob", 0.0, False),
        ("ann", "cyd", 0.01, True),
        ("ann", "cyd", 0.1, False),  # that one is nearly over
        ("ann", "ann", 0.15, False),
        ("ann", "ann", 0.25, True),  # one that takes longer than usual is taken to be half done
        ("dan", "eve", 0.03, False),  # a fill of an instant is not interrupted
        ("dan", "eve", 0.06, True),
        ("new", "bob", 30.0, False),  # of a new client nothing is known
        ("ann", "new", 0.1, False),
        ("ann", "new", 0.3, True),
    ],
)
def test_a_short_fill_goes_before_the_rest_of_a_long_one(times, one, other, run_s, is_shorter):
    assert times.is_shorter(one, other, run_s=run_s) is is_shorter


@pytest.mark.parametrize(
    ("one", "other", "is_much_longer"),
    [
        ("bob", "ann", True),
        ("ann", "bob", False),
        ("bob", "bob", False),
        ("bob", "new", False),
        ("new", "ann", False),
        ("ann", "dan", False),  # a fill of an instant makes no other much longer
        ("bob", "dan", True),
    ],
)
def test_much_longer_is_told_of_clients_that_are_known(times, one, other, is_much_longer):
    assert times.is_much_longer(one, other) is is_much_longer


def test_the_client_served_least_recently_is_forgotten(times: UsualTimes):
    for number in range(256):
        times.note(number, 1.0)
        times.note("ann", 0.1)
    assert times.of("bob") is None
    assert times.of("ann") == 0.1


def test_a_single_long_fill_does_not_count(times: UsualTimes):
    for seconds in (5.0, 0.1, 0.2):
        times.note("ann", seconds)
        assert times.of("ann") == 0.1
    for _ in range(3):
        times.note("ann", 5.0)
    assert times.of("ann") == 5.0
