"""The order of jobs: newest of a line, fair between lines, and nobody waits for ever."""

import random

import pytest

from intarsia.engine.service import scheduler
from intarsia.engine.service.scheduler import OLDEST_EVERY, Turns


def waiting(*jobs: str) -> Turns[str]:
    """Jobs named by their line's letter and a number."""
    found = Turns[str]()
    for job in jobs:
        found.add(job[0], job)
    return found


def in_order(found: Turns[str]) -> list[str]:
    return [job for _ in range(len(found)) if (job := found.take()) is not None]


def test_of_one_line_the_newest_goes_first():
    assert in_order(waiting("a1", "a2", "a3")) == ["a3", "a2", "a1"]


def test_between_lines_the_one_served_least_recently_goes_first():
    found = waiting("a1", "b1", "c1")
    assert in_order(found) == ["a1", "b1", "c1"]
    for job in ("c2", "b2", "a2", "b3"):
        found.add(job[0], job)
    assert in_order(found) == ["a2", "b3", "c2", "b2"]


def test_a_line_that_floods_is_served_as_often_as_one_that_does_not():
    found = waiting(*(f"a{number}" for number in range(100)))
    served = []
    for number in range(10):
        found.add("b", f"b{number}")
        served += [found.take(), found.take()]
    assert sorted(str(job)[0] for job in served) == ["a"] * 10 + ["b"] * 10


def test_the_oldest_of_a_line_that_floods_has_its_turn():
    found = waiting("a0")
    served = []
    for number in range(1, OLDEST_EVERY + 1):
        found.add("a", f"a{number}")
        served.append(found.take())
    assert served == [*(f"a{number}" for number in range(1, OLDEST_EVERY)), "a0"]
    assert found.take() == f"a{OLDEST_EVERY}", "and then the newest goes first again"


def test_a_turn_in_which_nobody_was_passed_over_brings_the_oldest_no_nearer():
    found = Turns[str]()
    for number in range(OLDEST_EVERY - 1):
        found.add("a", f"a{number}")
        assert found.take() == f"a{number}"
    found.add("a", "older")
    found.add("a", "newer")
    assert found.take() == "newer"


def test_lines_that_come_new_go_behind_those_that_wait():
    found = waiting("a1", "b1")
    served = []
    for number in range(2):
        found.add(number, f"new {number}")
        served.append(found.take())
    assert served == ["a1", "b1"]


def test_a_line_that_comes_new_goes_before_those_that_do_not_wait():
    found = waiting("a1", "b1")
    assert found.take() == "a1"
    found.add("c", "c1")
    found.add("a", "a2")
    assert in_order(found) == ["b1", "c1", "a2"]


def test_a_job_that_may_not_go_keeps_its_place():
    found = waiting("a1", "b1", "b2")
    assert found.take(lambda job: job == "b1") == "b1"
    assert found.take(lambda job: job == "c1") is None
    assert in_order(found) == ["a1", "b2"]


def test_a_job_that_was_removed_is_gone():
    found = waiting("a1", "a2", "b1")
    assert found.remove("a2")
    assert not found.remove("a2")
    assert (len(found), in_order(found), len(found)) == (2, ["a1", "b1"], 0)


def test_all_that_wait_are_taken_at_once():
    found = waiting("a1", "b1", "a2")
    assert sorted(found.take_all()) == ["a1", "a2", "b1"]
    assert (len(found), found.take()) == (0, None)


def test_no_more_lines_are_remembered_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(scheduler, "MAX_LINES", 3)
    found = waiting("w1")
    for number in range(20):
        found.add(number, f"{number}")
        assert found.take(lambda job: job != "w1") == f"{number}"
        assert len(found._lines) <= 3
    assert found.take() == "w1", "it is not forgotten while it waits"


@pytest.mark.parametrize("hundred", range(10))
def test_nobody_waits_for_more_turns_than_are_promised(hundred: int):
    """A hundred schedules each: lines that flood, that ask seldom, that take back what they asked.

    A line has a turn in every ``num_lines``, and of ``OLDEST_EVERY`` of these its oldest job one.
    """
    for seed in range(100 * hundred, 100 * hundred + 100):
        chance = random.Random(seed)
        num_lines = chance.randint(1, 8)
        how_often = [chance.choice([0.02, 0.2, 0.6, 1.2]) for _ in range(num_lines)]
        found, came = Turns[int](), dict[int, tuple[int, int]]()  # job → turn, most turns to wait
        num_jobs = num_out = now = 0
        while now < 50 or found:
            for line in range(num_lines):
                asks = how_often[line] * chance.random() * 2 if now < 50 else 0.0
                for _ in range(int(asks) + (chance.random() < asks % 1)):
                    older = len([job for job in came if job % num_lines == line])
                    job = num_jobs * num_lines + line
                    num_jobs += 1
                    found.add(line, job)
                    most = num_lines * OLDEST_EVERY * (older + 1)
                    came[job] = now, most
            if came and chance.random() < 0.1:
                taken_back = chance.choice(list(came))
                assert found.remove(taken_back)
                del came[taken_back]
                num_out += 1
            if (served := found.take()) is not None:
                since, most = came.pop(served)
                assert now - since < most, f"schedule {seed}"
                num_out += 1
            now += 1
        assert (num_out, came) == (num_jobs, {})


@pytest.mark.parametrize("seed", range(50))
def test_the_only_job_of_a_line_waits_for_one_turn_of_each_other_line(seed: int):
    chance = random.Random(seed)
    found, others = Turns[str](), [chr(ord("b") + number) for number in range(chance.randint(1, 7))]
    for turn in range(60):
        for line in others:
            found.add(line, f"{line}{turn}")
        if turn % 20 == 10:
            found.add("a", f"a{turn}")
            nexts = [found.take() for _ in range(len(others) + 1)]
            assert f"a{turn}" in nexts
        found.take()
