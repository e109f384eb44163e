"""A hole laid out as canvases: g given, . free, s suffix, e end of text, p padding."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intarsia.engine.families.diffusion_gemma.canvas.layout import CanvasSizes, HoleLayout, lay_out

END, PAD = -1, -2


def drawn(num_given: int, num_free: int, num_suffix: int, canvas_length: int = 32) -> list[str]:
    return [_draw(canvas) for canvas in _lay_out(num_given, num_free, num_suffix, canvas_length)]


def _lay_out(
    num_given: int, num_free: int, num_suffix: int, canvas_length: int
) -> tuple[HoleLayout, ...]:
    return lay_out(
        list(range(num_given)),
        num_free,
        list(range(100, 100 + num_suffix)),
        sizes=CanvasSizes(canvas_length=canvas_length),
        end_id=END,
        pad_id=PAD,
    )


def _draw(canvas: HoleLayout) -> str:
    signs = {END: "e", PAD: "p", None: "."}
    return "".join(signs.get(i) or ("g" if i is not None and i < 100 else "s") for i in canvas.ids)


@pytest.mark.parametrize(
    ("num_given", "num_free", "num_suffix", "canvases"),
    [
        # a canvas of 32: lengths in fours, at most 8 of the suffix
        (0, 4, 50, ["....ssssssss"]),
        (2, 3, 50, ["gg...sssssss"]),
        (0, 4, 3, ["....ssse"]),
        (1, 4, 1, ["g....sep"]),
        (0, 24, 50, ["." * 24 + "s" * 8]),
        (0, 5, 0, ["........"]),
        (2, 5, 0, ["gg......"]),
        (0, 32, 0, ["." * 32]),
        (0, 40, 0, ["." * 32, "." * 8]),
        (0, 30, 50, ["." * 24, "......ssssss"]),
        (4, 60, 50, ["gggg" + "." * 28, "." * 28, "....ssssssss"]),
    ],
)
def test_drawn(num_given: int, num_free: int, num_suffix: int, canvases: list[str]) -> None:
    assert drawn(num_given, num_free, num_suffix) == canvases


@settings(max_examples=300)
@given(
    num_given=st.integers(0, 40),
    num_free=st.integers(1, 600),
    num_suffix=st.integers(0, 300),
    canvas_length=st.integers(1, 256),
)
def test_every_free_position_and_given_token_is_laid_out_once_and_canvases_fit(
    num_given: int, num_free: int, num_suffix: int, canvas_length: int
) -> None:
    num_given = min(num_given, CanvasSizes(canvas_length=canvas_length).max_given)
    canvases = _lay_out(num_given, num_free, num_suffix, canvas_length)
    assert all(1 <= len(canvas.ids) <= canvas_length for canvas in canvases)
    drawings = [_draw(canvas) for canvas in canvases]
    assert sum(d.count("g") for d in drawings) == num_given
    assert not any("s" in d or "e" in d for d in drawings[:-1])
    for canvas, drawing in zip(canvases, drawings, strict=True):
        assert set(drawing[canvas.start : canvas.end]) == {"."}
        assert drawing.count(".") == canvas.end - canvas.start
    num_laid_out = sum(d.count(".") for d in drawings)
    assert num_laid_out == num_free if num_suffix else num_laid_out >= num_free


def test_a_first_token_can_be_given() -> None:
    first = _lay_out(1, 4, 9, 32)[0].beginning_with(77)
    assert first.ids[:3] == (0, 77, None)
    assert (first.start, first.end) == (1, 5)
