"""Whether a waiting fill is probably shorter than what is left of the running one."""

import pytest

from intarsia.engine.service.usual_times import UsualTimes


@pytest.fixture
def times() -> UsualTimes:
    """Ann's fills are short, Bob's take a second."""
    times = UsualTimes()
    times.note("ann", 0.1)
    times.note("bob", 1.0)
    return times


def test_a_short_fill_goes_before_the_rest_of_a_long_one(times: UsualTimes):
    assert times.is_shorter("ann", "bob", run_s=0.0)
    assert not times.is_shorter("bob", "ann", run_s=0.0)
    assert not times.is_shorter("bob", "bob", run_s=0.0)


def test_a_fill_that_is_nearly_over_is_not_interrupted(times: UsualTimes):
    times.note("cyd", 0.25)
    assert times.is_shorter("ann", "cyd", run_s=0.01)
    assert not times.is_shorter("ann", "cyd", run_s=0.1)


def test_a_fill_that_takes_longer_than_usual_is_taken_to_be_half_done(times: UsualTimes):
    assert not times.is_shorter("ann", "ann", run_s=0.15)
    assert times.is_shorter("ann", "ann", run_s=0.25)


def test_a_fill_of_an_instant_is_not_interrupted(times: UsualTimes):
    times.note("dan", 0.001)
    times.note("eve", 0.04)
    assert not times.is_shorter("dan", "eve", run_s=0.03)
    assert times.is_shorter("dan", "eve", run_s=0.06)


def test_of_a_new_client_nothing_is_known(times: UsualTimes):
    assert not times.is_shorter("new", "bob", run_s=30.0)
    assert not times.is_shorter("ann", "new", run_s=0.1)
    assert times.is_shorter("ann", "new", run_s=0.3)


def test_much_longer_is_told_of_clients_that_are_known(times: UsualTimes):
    assert times.is_much_longer("bob", "ann")
    assert not times.is_much_longer("ann", "bob")
    assert not times.is_much_longer("bob", "bob")
    assert not times.is_much_longer("bob", "new")
    assert not times.is_much_longer("new", "ann")


def test_a_fill_of_an_instant_does_not_make_others_much_longer(times: UsualTimes):
    times.note("dan", 0.001)
    assert not times.is_much_longer("ann", "dan")
    assert times.is_much_longer("bob", "dan")


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
