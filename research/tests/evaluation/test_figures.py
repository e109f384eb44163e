"""Figures of rows made by hand."""

import pytest
from judged_rows import exact, failure, row

from intarsia_research.evaluation.figures import Figures, figures_of
from intarsia_research.evaluation.record import Row


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


def test_a_failure_is_not_the_same_as_an_empty_answer():
    rows = [row("1", "a", text="", is_empty=True), failure("1", "b")]
    same = figures_of(rows)[0].systems[1].whole.same_as_first
    assert same and same.value == 0


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


def test_no_row_gives_no_figures():
    assert figures_of([]) == ()


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
