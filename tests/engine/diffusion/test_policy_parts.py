"""The parts of a policy by themselves: what they give and what they refuse."""

from collections.abc import Callable

import pytest
import torch
from cancel_when import cancelling
from rule_predict import VOCAB_SIZE, RulePredict

from intarsia.engine.diffusion.acceptance import StableAndConfident
from intarsia.engine.diffusion.candidate_lengths import candidate_lengths
from intarsia.engine.diffusion.canvas import TokenCanvas, random_canvas
from intarsia.engine.diffusion.length import PredictEach, rank_lengths, suffix_surprise
from intarsia.engine.diffusion.policies import ConstantTemperature, FromStep, LinearTemperature
from intarsia.engine.diffusion.prediction import Draft
from intarsia.engine.errors import Cancelled
from intarsia.engine.fill_control import NO_CONTROL


def test_a_linear_temperature_falls_and_then_stays_cold() -> None:
    temperature = LinearTemperature(t_min=0.4, t_max=0.8, num_steps=4)
    assert [temperature(step) for step in (1, 2, 3, 4, 9)] == pytest.approx(
        [0.8, 0.7, 0.6, 0.5, 0.5]
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: ConstantTemperature(temperature=0),
        lambda: LinearTemperature(t_min=0, t_max=1, num_steps=3),
        lambda: LinearTemperature(t_min=0.8, t_max=0.4, num_steps=3),
        lambda: LinearTemperature(t_min=0.4, t_max=0.8, num_steps=0),
        lambda: StableAndConfident(stability_threshold=-1, confidence_threshold=0.1),
        lambda: StableAndConfident(stability_threshold=1, confidence_threshold=0),
        lambda: TokenCanvas(
            ids=torch.zeros(3, dtype=torch.long),
            is_fixed=torch.zeros(2, dtype=torch.bool),
            is_accepted=torch.zeros(3, dtype=torch.bool),
        ),
    ],
)
def test_values_out_of_range_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"got"):
        make()


def test_a_canvas_holds_given_ids_and_noise() -> None:
    noisy = random_canvas([None, 4], vocab_size=5, generator=torch.Generator().manual_seed(0))
    assert noisy.ids[1] == 4 and 0 <= noisy.ids[0] < 5
    assert noisy.is_free.tolist() == [True, False]
    assert not noisy.is_accepted.any()


@pytest.mark.parametrize(
    ("threshold", "rows", "is_done"),
    [
        (0, [[1]], True),
        (1, [[1]], False),
        (1, [[2], [1]], False),
        (1, [[1], [1]], True),
        (2, [[1], [1]], False),
        (2, [[1], [2], [1]], False),
        (2, [[1], [1], [1]], True),
    ],
)
def test_stable_means_equal_to_so_many_drafts_before(threshold, rows, is_done):
    stop = StableAndConfident(stability_threshold=threshold, confidence_threshold=0.1)
    zero = torch.zeros(1)
    drafts = [Draft(ids=torch.tensor(row), confidences=zero, entropies=zero) for row in rows]
    canvas = random_canvas([None], vocab_size=5, generator=torch.Generator())
    assert stop(canvas, drafts) is is_done


def test_a_schedule_entered_later_leaves_out_its_first_steps() -> None:
    whole = LinearTemperature(t_min=0.4, t_max=0.8, num_steps=10)
    late = FromStep(schedule=whole, num_skipped=6)
    assert [late(step) for step in range(1, 5)] == [whole(step) for step in range(7, 11)]


SUFFIX = 2


@pytest.mark.parametrize(
    ("max_tokens", "lengths"),
    [(1, (1,)), (4, (4,)), (5, (4, 5)), (64, (4, 8, 16, 32, 64)), (100, (4, 8, 16, 32, 64, 100))],
)
def test_candidates_double_up_to_the_longest(max_tokens: int, lengths: tuple[int, ...]) -> None:
    assert candidate_lengths(max_tokens) == lengths


def likes(num_free: int) -> RulePredict:
    """Expects the suffix at its place when the canvas has this many free positions."""

    def sureness(canvas: TokenCanvas) -> list[float]:
        return [9.0 if int(canvas.is_free.sum()) == num_free else 2.0] * len(canvas)

    return RulePredict(wanted=lambda canvas: [SUFFIX] * len(canvas), sureness=sureness)


def each(predict: RulePredict) -> PredictEach:
    return lambda canvases: [predict(canvas, None) for canvas in canvases]


def canvas_of(length: int) -> TokenCanvas:
    generator = torch.Generator().manual_seed(0)
    ids = [5, *[None] * length, *[SUFFIX] * (40 - length)]
    return random_canvas(ids, vocab_size=VOCAB_SIZE, generator=generator)


@pytest.mark.parametrize(
    ("candidates", "liked", "chosen", "num_forwards"),
    [
        ([4, 8, 16, 32], 4, 4, 1),
        ([4, 8, 16, 32], 8, 8, 1),
        ([4, 8, 16, 32], 32, 32, 1),
        ([4, 8, 16], 99, 4, 1),  # the shortest wins among equals
        ([7], 4, 7, 0),
    ],
)
def test_the_length_at_which_the_suffix_is_expected_wins(candidates, liked, chosen, num_forwards):
    ranked, num_made = rank_lengths(each(likes(liked)), candidates, canvas_of, control=NO_CONTROL)
    assert (ranked[0], sorted(ranked), num_made) == (chosen, candidates, num_forwards)


def test_a_canvas_without_suffix_counts_as_a_blind_guess() -> None:
    canvas = canvas_of(40)
    surprise = suffix_surprise(likes(40)(canvas, None), canvas)
    assert surprise == pytest.approx(torch.tensor(VOCAB_SIZE).log().item())
    wrong = RulePredict(wanted=lambda c: [9] * len(c), sureness=lambda c: [4.0] * len(c))
    assert suffix_surprise(wrong(canvas_of(4), None), canvas_of(4)) > surprise
    ranked, _ = rank_lengths(each(wrong), [4, 40], canvas_of, control=NO_CONTROL)
    assert ranked == [40, 4]


def test_cancel_is_honoured_before_lengths_are_tried() -> None:
    predict = likes(4)
    with pytest.raises(Cancelled):
        rank_lengths(each(predict), [4, 8], canvas_of, control=cancelling(lambda: True))
    assert predict.canvases == []
