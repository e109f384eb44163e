"""Figures of rows made by hand, intervals against published values, and runs compared."""

import io
import math

import numpy as np
import pytest
from judged_rows import exact, failure, row, run_of
from rich.console import Console

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.compare_fills import compare_fills, rows_of
from intarsia_research.evaluation.figures import Figures, figures_of
from intarsia_research.evaluation.intervals import (
    Estimate,
    Resampling,
    mean_of_means,
    percentile,
    wilson,
)
from intarsia_research.evaluation.record import Row
from intarsia_research.evaluation.report_comparison import comparison_table


def whole(*rows: Row) -> Figures:
    return figures_of(rows)[0].systems[0].whole


def test_shares_are_of_all_holes_and_a_failure_is_neither_exact_nor_empty():
    found = whole(exact("1"), row("2"), row("3", is_empty=True, text=""), failure("4"))
    assert (found.cases, found.failures) == (4, 1)
    assert (found.exact.value, found.exact.of) == (0.25, 4)
    assert found.similarity.value == (1 + 0.5 + 0.5 + 0) / 4
    assert found.empty and (found.empty.value, found.empty.of) == (pytest.approx(1 / 3), 3)


def test_pass_at_1_is_of_holes_whose_test_was_run():
    found = whole(exact("1", passed=True), row("2", passed=False), row("3"))
    assert found.pass_at_1 and (found.pass_at_1.value, found.pass_at_1.of) == (0.5, 2)
    assert whole(exact("1")).pass_at_1 is None


def test_what_is_said_of_text_is_of_answers_with_text():
    found = whole(
        row("1", parses=True, duplicates_suffix=True, length_error=-4),
        row("2", parses=False, length_error=10),
        row("3", parses=None, length_error=0),
        row("4", is_empty=True, text="", length_error=-50),
        failure("5"),
    )
    assert found.parse_clean and (found.parse_clean.value, found.parse_clean.of) == (0.5, 2)
    assert found.suffix_duplicated
    assert (found.suffix_duplicated.value, found.suffix_duplicated.of) == (pytest.approx(1 / 3), 3)
    assert found.length_error and found.length_error.value == pytest.approx(14 / 3)
    assert found.length_error_median == 0


def test_tokens_and_passes_are_summed():
    found = whole(
        row("1", num_forwards=2, num_tokens=8), row("2", num_forwards=3, num_tokens=2), row("3")
    )
    assert (found.num_forwards, found.tokens) == (5, 10)
    assert found.tokens_per_forward and found.tokens_per_forward.value == 2


def test_the_others_are_compared_with_the_first_on_the_same_holes():
    first, second = figures_of(
        [
            row("1", "autoregressive", num_forwards=6, text="a"),
            row("1", "speculative", num_forwards=3, text="a"),
            row("2", "autoregressive", num_forwards=2, text="b"),
            row("2", "speculative", num_forwards=1, text="c"),
            row("3", "autoregressive", num_forwards=50),
        ]
    )[0].systems
    assert first.whole.forwards_to_first and first.whole.forwards_to_first.value == 1
    assert second.whole.forwards_to_first and second.whole.forwards_to_first.value == 0.5
    assert second.whole.same_as_first and second.whole.same_as_first.value == 0.5
    assert (first.whole.cases, second.whole.cases) == (3, 2)


def test_times_leave_failures_out_and_settling_leaves_reading_out():
    found = whole(
        row("1", ms=100.0, engine_ms=80.0, read_ms=50.0),
        row("2", ms=300.0, engine_ms=200.0, read_ms=10.0),
        failure("3", ms=9999.0),
    )
    assert found.ms_p50 and found.ms_p95 and found.engine_ms_p95 and found.decode_ms_p50
    assert (found.ms_p50.value, found.ms_p95.value) == (100, 300)
    assert found.engine_ms_p95.value == 200
    assert found.decode_ms_p50.value == 30


def test_every_kind_and_language_has_figures_of_its_own():
    found = figures_of(
        [
            exact("1", kind="line", language="python"),
            row("2", kind="line", language="go"),
            exact("3", kind="block", language="go"),
        ]
    )[0].systems[0]
    assert {name: own.exact.value for name, own in found.by_kind.items()} == {
        "block": 1,
        "line": 0.5,
    }
    assert {name: own.exact.value for name, own in found.by_language.items()} == {
        "go": 0.5,
        "python": 1,
    }


def test_the_mean_over_languages_counts_each_alike():
    found = whole(*(exact(str(i)) for i in range(9)), row("9", language="go"))
    assert found.exact.value == 0.9
    assert found.num_languages == 2
    assert found.exact_by_language and found.exact_by_language.value == 0.5
    assert whole(exact("1")).exact_by_language is None


def test_sets_are_told_apart_and_taken_together_where_there_are_several():
    rows = [exact("1", set="a"), row("1", set="b"), row("2", set="b")]
    found = figures_of(rows)
    assert [(one.set, one.cases) for one in found] == [("a", 1), ("b", 2), (None, 3)]
    assert [one.systems[0].whole.exact.value for one in found] == [1, 0, pytest.approx(1 / 3)]
    assert [one.set for one in figures_of(rows[:1])] == ["a"]


def test_the_first_system_is_the_run_s_whoever_had_the_first_turn_in_a_set():
    rows = [
        *(row("1", name, set="a", num_forwards=4) for name in ("autoregressive", "speculative")),
        *(row("1", name, set="b", num_forwards=2) for name in ("speculative", "autoregressive")),
    ]
    for one in figures_of(rows):
        assert [own.system for own in one.systems] == ["autoregressive", "speculative"]


def test_what_is_won_and_lost_is_told_against_the_first_system():
    rows = [
        *(exact("1", "none", is_named=True), row("2", "none", is_named=False), row("3", "none")),
        *(row("1", "all", is_named=False), exact("2", "all", is_named=True), exact("3", "all")),
        exact("4", "all", is_named=True),  # the first system did not meet it
    ]
    first, second = figures_of(rows)[0].systems
    assert (first.whole.context.exact.won, first.whole.context.exact.lost) == (0, 0)
    assert (second.whole.context.exact.won, second.whole.context.exact.lost) == (2, 1)
    assert (second.whole.context.named.won, second.whole.context.named.lost) == (1, 1)
    assert first.whole.named and (first.whole.named.value, first.whole.named.of) == (0.5, 2)


def test_tokens_read_count_those_that_were_read_before():
    found = whole(
        row("1", num_read=10, num_reused=90, num_project=50),
        row("2", num_read=100, num_reused=0, num_project=0),
        row("3"),
    )
    read, project = found.context.read, found.context.read_project
    assert read and (read.value, read.of) == (100, 2)
    assert project and project.value == 25


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


WIDTH = 110


def drawn(*tables: object) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=WIDTH)
    for table in tables:
        console.print(table)
    return stream.getvalue()


def test_a_comparison_says_what_is_more_than_noise():
    first = [row(str(number), ms=100.0) for number in range(20)]
    second = [exact(str(number), ms=90.0 + number) for number in range(20)]
    text = drawn(comparison_table(compare_fills(first, second), "before", "after", cases="holes"))
    lines = {line.split()[0]: line for line in text.splitlines() if line.split()}
    assert "+100.0" in lines["exact"] and "0 / 20" in lines["exact"]
    assert "< 0.001" in lines["exact"] and lines["exact"].rstrip().endswith("differs")
    assert lines["ms"].rstrip().endswith("noise")
    assert max(map(len, text.splitlines())) <= WIDTH


def test_holes_are_paired_and_the_discordant_ones_told():
    first = [exact("1"), exact("2"), row("3"), row("4"), row("5")]
    second = [exact("5"), exact("4"), exact("3"), row("2", text="other"), exact("1")]
    found = compare_fills(first, second)
    assert (found.pairs, found.shares["exact"].of) == (5, 5)
    assert (found.shares["exact"].first, found.shares["exact"].second) == (0.4, 0.8)
    assert (found.shares["exact"].only_first, found.shares["exact"].only_second) == (1, 3)
    assert found.shares["exact"].p == pytest.approx(0.625)
    assert found.shares["exact"].difference.value == pytest.approx(0.4)
    assert [(one.case, one.is_right_in_second) for one in found.discordant] == [
        ("2", False),
        ("3", True),
        ("4", True),
        ("5", True),
    ]
    assert (found.discordant[0].truth, found.discordant[0].wrong) == ("x = 1", "other")


def test_pass_at_1_is_compared_where_both_tests_were_run():
    first = [row("1", passed=True), row("2", passed=False), row("3")]
    second = [row("1", passed=False), row("2", passed=True), row("3", passed=True)]
    found = compare_fills(first, second)
    assert (found.shares["pass@1"].of, found.shares["pass@1"].p) == (2, 1.0)
    assert [one.figure for one in found.discordant] == ["pass@1", "pass@1"]
    assert "pass@1" not in compare_fills(first[2:], second).shares


def test_numbers_are_compared_where_both_sides_have_them():
    first = [row("1", num_forwards=4, ms=100.0), row("2", num_forwards=2, ms=50.0), failure("3")]
    second = [row("1", num_forwards=2, ms=90.0), row("2", ms=40.0), row("3")]
    found = compare_fills(first, second)
    passes, ms = found.means["forward passes"], found.means["ms"]
    assert (passes.of, passes.difference.value) == (1, -2)
    assert (ms.of, ms.first, ms.second, ms.difference.value) == (2, 75, 65, -10)
    assert found.means["similar"].difference.value == pytest.approx(0.5 / 3)
    assert "forward passes" not in compare_fills([row("1")], [row("1")]).means


def test_a_difference_that_is_the_same_everywhere_has_a_narrow_interval():
    first = [row(str(i), similarity=i / 40) for i in range(20)]
    second = [row(str(i), similarity=i / 40 + 0.25) for i in range(20)]
    difference = compare_fills(first, second).means["similar"].difference
    assert (difference.low, difference.high) == (pytest.approx(0.25), pytest.approx(0.25))


def test_what_is_left_out_is_counted():
    first = [row("1"), row("2"), row("3")]
    second = [row("3"), row("2", truth="y = 1"), row("5"), row("6")]
    found = compare_fills(first, second)
    assert (found.pairs, found.changed) == (1, 1)
    assert (found.left_out_of_first, found.left_out_of_second) == (1, 2)


def test_the_same_id_in_another_set_is_another_hole():
    with pytest.raises(EvaluationFault, match="no hole in common"):
        compare_fills([row("1", set="a")], [row("1", set="b")])


def test_a_system_is_chosen_by_name_or_is_the_first():
    run = run_of(row("1", "speculative"), row("1", "plain"))
    assert [one.system for one in rows_of(run, None)] == ["speculative"]
    assert [one.system for one in rows_of(run, "plain")] == ["plain"]
    with pytest.raises(EvaluationFault, match=r"'none'.*speculative, plain"):
        rows_of(run, "none")
    with pytest.raises(EvaluationFault, match="none"):
        rows_of(run_of(), None)
