"""The length of a hole: candidates, and the best fit of the suffix in a first pass."""

import time

import pytest
import torch
from cancel_when import cancelling
from rule_predict import VOCAB_SIZE, RulePredict

from intarsia.engine.diffusion.candidate_lengths import candidate_lengths
from intarsia.engine.diffusion.canvas import TokenCanvas, random_canvas
from intarsia.engine.diffusion.length import choose_length, suffix_surprise
from intarsia.engine.errors import Cancelled
from intarsia.engine.fill_control import NO_CONTROL, FillControl

SUFFIX = 2


@pytest.mark.parametrize(
    ("max_tokens", "lengths"),
    [
        (1, (1,)),
        (4, (4,)),
        (5, (4, 5)),
        (64, (4, 8, 16, 32, 64)),
        (100, (4, 8, 16, 32, 64, 100)),
    ],
)
def test_candidates_double_up_to_the_longest(max_tokens: int, lengths: tuple[int, ...]) -> None:
    assert candidate_lengths(max_tokens) == lengths


def test_no_candidates_without_tokens() -> None:
    with pytest.raises(ValueError, match="max_tokens"):
        candidate_lengths(0)


def likes(num_free: int) -> RulePredict:
    """Expects the suffix at its place when the canvas has this many free positions."""

    def sureness(canvas: TokenCanvas) -> list[float]:
        return [9.0 if int(canvas.is_free.sum()) == num_free else 2.0] * len(canvas)

    return RulePredict(wanted=lambda canvas: [SUFFIX] * len(canvas), sureness=sureness)


def canvas_of(length: int) -> TokenCanvas:
    generator = torch.Generator().manual_seed(0)
    ids = [5, *[None] * length, *[SUFFIX] * (40 - length)]
    return random_canvas(ids, vocab_size=VOCAB_SIZE, generator=generator)


@pytest.mark.parametrize("num_free", [4, 8, 32])
def test_the_length_at_which_the_suffix_is_expected_wins(num_free: int) -> None:
    predict = likes(num_free)
    choice = choose_length(predict, [4, 8, 16, 32], canvas_of, control=NO_CONTROL)
    assert (choice.num_tokens, choice.num_forwards) == (num_free, 4)
    assert predict.self_conditionings == [None] * 4


def test_the_shortest_wins_among_equals() -> None:
    choice = choose_length(likes(99), [4, 8, 16], canvas_of, control=NO_CONTROL)
    assert choice.num_tokens == 4


def test_a_single_candidate_costs_no_pass() -> None:
    predict = likes(4)
    choice = choose_length(predict, [7], canvas_of, control=NO_CONTROL)
    assert (choice.num_tokens, choice.num_forwards, len(predict.canvases)) == (7, 0, 0)


def test_a_canvas_without_suffix_counts_as_a_blind_guess() -> None:
    canvas = canvas_of(40)
    surprise = suffix_surprise(likes(40)(canvas, None), canvas)
    assert surprise == pytest.approx(torch.tensor(VOCAB_SIZE).log().item())
    wrong = RulePredict(wanted=lambda c: [9] * len(c), sureness=lambda c: [4.0] * len(c))
    assert suffix_surprise(wrong(canvas_of(4), None), canvas_of(4)) > surprise
    choice = choose_length(wrong, [4, 40], canvas_of, control=NO_CONTROL)
    assert choice.num_tokens == 40


def test_a_deadline_lets_those_tried_so_far_compete() -> None:
    choice = choose_length(
        likes(32), [4, 32], canvas_of, control=FillControl(deadline=time.monotonic() - 1)
    )
    assert (choice.num_tokens, choice.num_forwards) == (4, 1)


def test_cancel_is_honoured_between_two_candidates() -> None:
    predict = likes(4)
    with pytest.raises(Cancelled):
        choose_length(
            predict,
            [4, 8, 16],
            canvas_of,
            control=cancelling(lambda: len(predict.canvases) == 2),
        )
    assert len(predict.canvases) == 2
