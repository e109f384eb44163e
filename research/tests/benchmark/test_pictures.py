"""Which figures stand in which picture, and that what is drawn says so."""

from pathlib import Path

import pytest

from intarsia_research.benchmark.figures import Figure
from intarsia_research.benchmark.report.pictures import PICTURES, Point, draw_pictures, points


def figure(name: str, value: float | None, bounds: tuple[float, float] | None = None) -> Figure:
    return Figure(name=name, words=name, value=value, unit="ms", method="by hand", bounds=bounds)


FIGURES = [
    figure("context_1k_cold_ms", 2000.0),
    figure("context_8k_cold_ms", 20_000.0),
    figure("context_8k_warm_ms", 500.0, (400.0, 700.0)),
    figure("context_16k_cold_ms", None),
]


def test_points_are_the_figures_of_a_pattern_that_have_a_value():
    assert points(FIGURES, r"context_(\d+)k_cold_ms", 1e-3) == [
        Point(x="1", y=2.0, low=2.0, high=2.0),
        Point(x="8", y=20.0, low=20.0, high=20.0),
    ]
    assert points(FIGURES, r"context_(\d+)k_warm_ms") == [Point(x="8", y=500, low=400, high=700)]
    assert points(FIGURES, r"context_(\d+)k") == []


def test_a_picture_is_drawn_of_what_there_is_and_of_nothing_else(tmp_path: Path):
    pytest.importorskip("matplotlib", reason="pip install matplotlib")
    drawn = draw_pictures(FIGURES, tmp_path / "new")
    assert drawn == [tmp_path / "new" / "bench-context.svg"]
    shown = drawn[0].read_text(encoding="utf-8")
    assert ">whole, cold<" in shown
    assert ">whole, warm<" in shown
    assert ">cut as usual, cold<" not in shown
    assert ">thousands of tokens in the file<" in shown


def test_the_same_figures_give_the_same_file(tmp_path: Path):
    pytest.importorskip("matplotlib", reason="pip install matplotlib")
    bars = [*FIGURES, figure("typing_prompt_share", 30.0), figure("typing_shown_share", 60.0)]
    first, again = draw_pictures(bars, tmp_path / "a"), draw_pictures(bars, tmp_path / "b")
    assert [it.name for it in first] == ["bench-context.svg", "bench-typing.svg"]
    assert [it.read_bytes() for it in first] == [it.read_bytes() for it in again]


def test_no_two_pictures_share_a_file():
    assert len({picture.file for picture in PICTURES}) == len(PICTURES)
