"""Figures in a table, as JSON and in pictures."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from intarsia_research.benchmark.figure_table import as_json, shown_value
from intarsia_research.benchmark.figures import Figure, middle_of
from intarsia_research.benchmark.pictures import PICTURES, Point, draw_pictures, points

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


def figure(name: str, value: float | None, bounds: tuple[float, float] | None = None) -> Figure:
    return Figure(name=name, words=name, value=value, unit="ms", method="by hand", bounds=bounds)


FIGURES = [
    figure("side_intarsia_warm_p50_ms", 200.0),
    figure("side_intarsia_warm_p95_ms", 300.0, (250.0, 350.0)),
    figure("side_llama_cpp_warm_p50_ms", 500.0),
    figure("side_llama_cpp_warm_p95_ms", None),
]


def test_points_are_the_figures_of_a_pattern_that_have_a_value():
    assert points(FIGURES, r"side_intarsia_warm_(p\d+)_ms") == [
        Point(x="p50", y=200.0, low=200.0, high=200.0),
        Point(x="p95", y=300.0, low=250.0, high=350.0),
    ]
    assert points(FIGURES, r"side_llama_cpp_warm_(p95)_ms") == []
    assert points(FIGURES, r"side_intarsia_warm_(p\d+)") == []


def test_a_picture_is_drawn_of_what_there_is_and_of_nothing_else(tmp_path: Path):
    drawn = draw_pictures(FIGURES, tmp_path / "new")
    assert drawn == [tmp_path / "new" / "bench-warm.svg"]
    shown = drawn[0].read_text(encoding="utf-8")
    assert ">llama.cpp<" in shown and ">p95<" in shown
    assert ">transformers<" not in shown


def test_the_same_figures_give_the_same_file(tmp_path: Path):
    bars = [*FIGURES, figure("typing_prompt_share", 30.0), figure("typing_shown_share", 60.0)]
    first, again = draw_pictures(bars, tmp_path / "a"), draw_pictures(bars, tmp_path / "b")
    assert [it.name for it in first] == ["bench-warm.svg", "bench-typing.svg"]
    assert [it.read_bytes() for it in first] == [it.read_bytes() for it in again]


def test_no_two_pictures_share_a_file():
    assert len({picture.file for picture in PICTURES}) == len(PICTURES)
