"""Figures in a table, as JSON and in pictures."""

from pathlib import Path

from intarsia_research.benchmark.figures import Figure, middle_of
from intarsia_research.benchmark.pictures import draw_pictures


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
