"""Which figures stand in which picture, and that what is drawn says so."""

from pathlib import Path

from intarsia_research.benchmark.figures import Figure
from intarsia_research.benchmark.pictures import PICTURES, Point, draw_pictures, points


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
