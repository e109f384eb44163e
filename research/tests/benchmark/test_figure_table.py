"""Figures in a table and as JSON."""

import json
from dataclasses import replace

import pytest

from intarsia_research.benchmark.figure_table import as_json, as_table, shown_value
from intarsia_research.benchmark.figures import Figure, middle_of

FIGURE = Figure(name="wait_ms", words="a wait", value=12.345, unit="ms", method="by hand")


@pytest.mark.parametrize(
    ("figure", "shown"),
    [
        (FIGURE, "12.3 ms"),
        (replace(FIGURE, value=12345.6), "12,346 ms"),
        (replace(FIGURE, value=None), "–"),
        (replace(FIGURE, value=0.5, unit="", bounds=(0.25, 1.0)), "0.5 (0.25–1)"),
    ],
)
def test_a_value_has_three_digits_its_bounds_and_its_unit(figure: Figure, shown: str):
    assert shown_value(figure) == shown


def test_a_table_has_a_row_for_each_and_names_the_machine():
    table = as_table([FIGURE, replace(FIGURE, value=None)], "two cores")
    assert table.row_count == 2
    assert table.caption == "two cores"


def test_json_has_values_by_name_and_the_bounds_of_those_that_have():
    other = replace(FIGURE, name="ratio", value=0.5, bounds=(0.4, 0.6))
    silent = replace(FIGURE, name="joules", value=None)
    assert json.loads(as_json([FIGURE, other, silent], "two cores")) == {
        "machine": "two cores",
        "figures": {"wait_ms": 12.345, "ratio": 0.5, "joules": None},
        "bounds": {"ratio": [0.4, 0.6]},
    }


def test_a_few_values_become_their_median_between_least_and_greatest():
    about = {"name": "a", "words": "a", "unit": "ms", "method": "by hand"}
    assert middle_of([3.0, 1.0, 2.0], **about).value == 2
    assert middle_of([3.0, 1.0, 2.0], **about).bounds == (1, 3)
    assert middle_of([3.0], **about).bounds is None
    assert middle_of([], **about).value is None
