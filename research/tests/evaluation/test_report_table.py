"""Two runs paired hole by hole, and tables for a terminal."""

import io

import pytest
from judged_rows import exact, failure, row, run_of
from rich.console import Console

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.compare_fills import compare_fills, rows_of
from intarsia_research.evaluation.report_comparison import (
    comparison_table,
)

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
    run = run_of(row("1", "speculative"), row("1", "entropy"))
    assert [one.system for one in rows_of(run, None)] == ["speculative"]
    assert [one.system for one in rows_of(run, "entropy")] == ["entropy"]
    with pytest.raises(EvaluationFault, match=r"'none'.*speculative, entropy"):
        rows_of(run, "none")
    with pytest.raises(EvaluationFault, match="none"):
        rows_of(run_of(), None)
