"""Intervals against published values and against what must hold of them."""

import math

import numpy as np
import pytest

from intarsia_research.evaluation.intervals import (
    Estimate,
    Resampling,
    mean_of_means,
    percentile,
    wilson,
)


def alone(count: int) -> Resampling:
    """Return a resampling of cases that are each a group of their own."""
    return Resampling([str(index) for index in range(count)])


@pytest.mark.parametrize(
    ("successes", "of", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # Newcombe 1998, table I
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0),
    ],
)
def test_wilson_is_as_published(successes, of, low, high):
    assert wilson(successes, of) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_a_share_of_cases_on_their_own_has_wilson_s_interval():
    found = alone(100).share([True] * 43 + [False] * 57)
    assert found == Estimate(value=0.43, low=wilson(43, 100)[0], high=wilson(43, 100)[1], of=100)


def test_cases_of_one_group_say_less_than_as_many_on_their_own():
    flags = [True] * 50 + [False] * 50
    grouped = Resampling([str(index // 10) for index in range(100)]).share(flags)
    single = alone(100).share(flags)
    assert grouped and single
    assert grouped.value == single.value
    assert grouped.high - grouped.low > 2 * (single.high - single.low)


def test_one_group_alone_is_not_taken_for_certain():
    found = Resampling(["a"] * 4).share([True, True, False, False])
    assert found and found.low < 0.2 and found.high > 0.8


def test_what_does_not_apply_is_left_out():
    assert alone(3).share([None, True, False]) == alone(2).share([True, False])
    mean = alone(3).mean([None, 1.0, 3.0])
    assert mean and (mean.value, mean.of) == (2.0, 2)
    assert alone(2).share([None, None]) is None
    assert alone(2).mean([None, None]) is None
    assert alone(2).ratio([None, 1], [2, None]) is None
    assert alone(1).ratio([1], [0]) is None
    assert alone(1).percentiles([None], (50, 95)) == [None, None]


def test_the_mean_s_interval_is_near_the_normal_one_and_the_same_every_time():
    values = np.random.default_rng(1).normal(10, 2, size=400).tolist()
    found = alone(400).mean(values)
    assert found == alone(400).mean(values)
    half = 1.96 * float(np.std(values)) / math.sqrt(400)
    assert found
    assert found.low == pytest.approx(found.value - half, abs=0.05)
    assert found.high == pytest.approx(found.value + half, abs=0.05)


def test_a_ratio_is_of_sums_and_not_of_cases():
    found = alone(3).ratio([1, 9, None], [1, 3, 5])
    assert found and (found.value, found.of) == (2.5, 2)
    assert found.low >= 1 and found.high <= 3


def test_percentiles_are_values_that_were_seen_and_lie_in_their_intervals():
    values = [float(value) for value in range(1, 101)]
    middle, high = alone(100).percentiles(values, (50, 95))
    assert middle and high
    assert (middle.value, high.value) == (50, 95)
    assert 35 <= middle.low <= 50 <= middle.high <= 65
    assert 85 <= high.low <= 95 <= high.high <= 100


@pytest.mark.parametrize(("percent", "value"), [(50, 2.0), (51, 3.0), (95, 4.0), (0, 1.0)])
def test_a_percentile_is_the_nearest_rank(percent, value):
    assert percentile([4.0, 1.0, 3.0, 2.0], percent) == value


def test_the_mean_of_means_counts_each_part_alike():
    many, few = alone(90), alone(10)
    drawn = [many.drawn_means([1.0] * 90), few.drawn_means([0.0] * 10)]
    found = mean_of_means(drawn, [1.0, 0.0], 100)
    assert (found.value, found.low, found.high, found.of) == (0.5, 0.5, 0.5, 100)
