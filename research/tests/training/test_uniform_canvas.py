"""What is drawn for training is what a fill lays out; noise falls on the hole alone."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intarsia.engine.families.diffusion_gemma.canvas.layout import CanvasSizes, lay_out
from intarsia.training.packed_holes import HoleIds
from intarsia_research.training.uniform_canvas import (
    CanvasRules,
    CleanCanvas,
    UniformMix,
    batch_of,
    draw_canvas,
    noised,
)

END, PAD = 1, 0
RULES = CanvasRules(
    sizes=CanvasSizes(canvas_length=32), end_id=END, pad_id=PAD, vocab_size=1_000_000
)
MIX = UniformMix(max_free=16)
EXACT = UniformMix(max_free=16, share_exact=1.0, share_longer=0.0)


def hole(num_given: int = 0, num_middle: int = 3, num_suffix: int = 20) -> HoleIds:
    return HoleIds(
        prefix=[2, 50, 51],
        given=range(100, 100 + num_given),
        middle=range(200, 200 + num_middle),
        suffix=range(300, 300 + num_suffix),
        group=0,
    )


def drawn(ids: HoleIds, mix: UniformMix = MIX, *, seed: int = 0) -> CleanCanvas:
    return draw_canvas(ids, mix, RULES, random.Random(seed))


def test_behind_the_hole_stand_an_end_and_padding_as_the_filler_reads_them() -> None:
    shortest = UniformMix(max_free=16, share_exact=0.0, share_longer=0.0)
    canvas = drawn(hole(num_given=1, num_middle=5), shortest)
    assert canvas.ids == (100, 200, 201, 202, 203, 204, END, PAD, PAD, *range(300, 307))
    assert (canvas.start, canvas.end, canvas.num_needed) == (1, 9, 6)
    assert canvas.context == (2, 50, 51)


def test_a_canvas_of_the_holes_own_length_has_no_end() -> None:
    canvas = drawn(hole(num_middle=3), EXACT)
    assert canvas.ids[: canvas.end] == (200, 201, 202)
    assert canvas.num_needed == 3


def test_given_text_that_the_canvas_cannot_show_is_context() -> None:
    canvas = drawn(hole(num_given=6), EXACT)
    assert canvas.context == (2, 50, 51, 100, 101)
    assert canvas.ids[:4] == (102, 103, 104, 105)


def test_a_hole_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="17 tokens, at most 16"):
        drawn(hole(num_middle=17))


@settings(max_examples=100)
@given(
    num_given=st.integers(0, 9),
    num_middle=st.integers(1, 16),
    num_suffix=st.integers(0, 30),
    canvas_length=st.integers(8, 40),
    seed=st.integers(0, 999),
)
def test_every_canvas_is_one_that_a_fill_lays_out(
    num_given: int, num_middle: int, num_suffix: int, canvas_length: int, seed: int
) -> None:
    ids = hole(num_given, num_middle, num_suffix)
    rules = CanvasRules(
        sizes=CanvasSizes(canvas_length=canvas_length), end_id=END, pad_id=PAD, vocab_size=999
    )
    canvas = draw_canvas(ids, MIX, rules, random.Random(seed))
    num_early = max(num_given - rules.sizes.max_given, 0)
    laid_out = [
        place
        for num_free in range(num_middle, 17)
        for place in lay_out(
            ids.given[num_early:], num_free, ids.suffix, sizes=rules.sizes, end_id=END, pad_id=PAD
        )
    ]
    hidden = tuple(
        None if canvas.start <= place < canvas.end else token
        for place, token in enumerate(canvas.ids)
    )
    assert hidden in [place.ids for place in laid_out]
    text = (*canvas.context, *canvas.ids[: canvas.start + canvas.num_needed])
    whole = (*ids.prefix, *ids.given, *ids.middle, END)
    assert text == whole[: len(text)], "up to the end, context and canvas are the file's text"
    rest = canvas.ids[canvas.start + canvas.num_needed : canvas.end]
    assert set(rest) <= {PAD}


def test_noise_falls_on_the_hole_alone_and_as_often_as_it_should() -> None:
    ids = hole(num_given=2, num_middle=16, num_suffix=5)
    canvas, chosen = drawn(ids, EXACT), random.Random(0)
    for noise in (0.001, 0.25, 0.5, 1.0):
        num_changed = 0
        for _ in range(200):
            noisy = noised(canvas, noise, RULES, chosen)
            assert noisy[: canvas.start] == canvas.ids[: canvas.start]
            assert noisy[canvas.end :] == canvas.ids[canvas.end :]
            num_changed += sum(a != b for a, b in zip(noisy, canvas.ids, strict=True))
        share = num_changed / (200 * 16)
        assert abs(share - noise) < 0.03, f"{share} of the tokens, not {noise}"


def test_the_lengths_that_a_fill_would_try_are_all_drawn() -> None:
    lengths = {
        canvas.end - canvas.start
        for canvas in (drawn(hole(num_middle=3), seed=seed) for seed in range(60))
    }
    assert lengths == {3, 4, 8}


def test_a_batch_marks_the_hole_and_pads_the_rest() -> None:
    canvases = [drawn(hole(num_given=1), EXACT), drawn(hole(num_middle=9, num_suffix=2), EXACT)]
    noisy = [noised(canvas, 1.0, RULES, random.Random(0)) for canvas in canvases]
    batch = batch_of(canvases, noisy, pad_id=PAD)
    for number, canvas in enumerate(canvases):
        length = len(canvas.ids)
        assert int(batch.num_ids[number]) == length
        assert batch.clean[number, :length].tolist() == list(canvas.ids)
        assert batch.noisy[number, :length].tolist() == list(noisy[number])
        places = batch.is_hole[number].nonzero().flatten().tolist()
        assert places == list(range(canvas.start, canvas.end))
        assert batch.context[number, : len(canvas.context)].tolist() == list(canvas.context)
        assert not batch.is_hole[number, length:].any()
