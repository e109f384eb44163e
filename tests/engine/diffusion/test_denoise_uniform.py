"""Uniform-state diffusion round given text: what stays, what is revised, when it ends."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from cancel_when import cancelling
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_predict import VOCAB_SIZE, RulePredict, wants

from intarsia.engine.diffusion.acceptance import AcceptAmongFree, StableAndConfident
from intarsia.engine.diffusion.candidate_lengths import candidate_lengths
from intarsia.engine.diffusion.canvas import TokenCanvas, random_canvas
from intarsia.engine.diffusion.denoise import Denoised, denoise
from intarsia.engine.diffusion.length import PredictEach, rank_lengths, suffix_surprise
from intarsia.engine.diffusion.policies import (
    ConstantTemperature,
    FromStep,
    LinearTemperature,
    uniform_state_policy,
)
from intarsia.engine.diffusion.prediction import Draft, draw, read_logits
from intarsia.engine.errors import Cancelled
from intarsia.engine.fill_control import NO_CONTROL

POLICY = uniform_state_policy(vocab_size=VOCAB_SIZE, max_steps=10)
GIVEN = [5, None, None, 6, None, 7, None, None]
some_canvas = st.lists(st.none() | st.integers(0, VOCAB_SIZE - 1), min_size=1, max_size=12)


def rng(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def run(predict, ids, policy=POLICY, *, seed=0) -> tuple[Denoised, list[TokenCanvas], list[Draft]]:
    canvases: list[TokenCanvas] = []
    drafts: list[Draft] = []

    def remember(step: int, canvas: TokenCanvas, draft: Draft) -> None:
        assert step == len(canvases) + 1
        canvases.append(canvas)
        drafts.append(draft)

    generator = rng(seed)
    canvas = random_canvas(ids, vocab_size=VOCAB_SIZE, generator=generator)
    denoised = denoise(predict, canvas, policy, generator=generator, on_step=remember)
    return denoised, canvases, drafts


@settings(max_examples=40)
@given(ids=some_canvas, sureness=st.floats(0, 20), seed=st.integers(0, 2**32))
def test_given_tokens_never_change_and_the_budget_of_steps_holds(ids, sureness, seed):
    predict = wants([1] * len(ids), sureness)
    denoised, canvases, drafts = run(predict, ids, seed=seed)
    for row in [*(c.ids for c in (*predict.canvases, *canvases)), *(d.ids for d in drafts)]:
        assert [i for i, j in zip(row.tolist(), ids, strict=True) if j is not None] == [
            j for j in ids if j is not None
        ]
    assert denoised.num_forwards == len(predict.canvases) <= POLICY.max_steps


@settings(max_examples=40)
@given(
    sureness=st.lists(st.floats(0, 12), min_size=1, max_size=8),
    num_given=st.integers(0, 12),
    bound=st.floats(0, 5),
)
def test_the_entropy_budget_does_not_feel_the_given_tokens(sureness, num_given, bound):
    def accepted(ids: list[int | None], sure: list[float]) -> list[bool]:
        canvas = random_canvas(ids, vocab_size=VOCAB_SIZE, generator=rng())
        # an unsure model at the given positions: only the one-hot keeps them out
        logits = wants([1] * len(ids), sure)(canvas, None)
        prediction = read_logits(logits, canvas, temperature=1, sample=draw, generator=rng())
        return AcceptAmongFree(entropy_bound=bound)(canvas, prediction).tolist()

    alone = accepted([None] * len(sureness), sureness)
    amid = accepted([3] * num_given + [None] * len(sureness), [0.5] * num_given + sureness)
    assert amid == [False] * num_given + alone


def test_accepts_by_the_sum_of_the_entropies_before() -> None:
    canvas = random_canvas([None] * 3, vocab_size=VOCAB_SIZE, generator=rng())
    logits = wants([1, 1, 1], [3.0, 9.0, 0.0])(canvas, None)
    prediction = read_logits(logits, canvas, temperature=1, sample=draw, generator=rng())
    sure, unsure, lost = prediction.entropies[[1, 0, 2]].tolist()
    assert sure < unsure < lost
    for bound, expected in [
        (0.0, [False, True, False]),
        (sure, [True, True, False]),
        (sure + unsure + 1e-3, [True, True, True]),
    ]:
        accept = AcceptAmongFree(entropy_bound=bound)
        assert accept(canvas, prediction).tolist() == expected, bound


@pytest.mark.parametrize("given_sureness", [0.0, 30.0])
def test_the_stop_asks_the_free_positions_only(given_sureness: float) -> None:
    """Unsure given tokens do not delay the stop, nor do sure ones hide an unsure free token."""
    sure_hole = [30.0 if i is None else given_sureness for i in GIVEN]
    assert run(wants([1] * 8, sure_hole), GIVEN)[0].finish_reason == "done"
    # one unsure free token in eight: over all positions its entropy would pass the threshold
    ids = [9] * 7 + [None]
    unsure_hole = [given_sureness] * 7 + [9.5]
    denoised = run(wants([1] * 8, unsure_hole), ids, policy=replace(POLICY, temperature=_one))[0]
    assert 0.005 < denoised.entropies[-1] < 8 * 0.005
    assert denoised.finish_reason == "max_steps"


def _one(step: int) -> float:
    return 1.0


def test_given_tokens_are_one_hot_in_the_self_conditioning() -> None:
    predict = wants([1] * 8, 2.0)
    run(predict, GIVEN)
    assert predict.self_conditionings[0] is None
    for logits in predict.self_conditionings[1:]:
        assert logits is not None
        for dtype in (torch.float32, torch.bfloat16):  # the model casts it
            probabilities = logits.to(dtype).softmax(dim=-1, dtype=torch.float32)
            assert probabilities[[0, 3, 5], [5, 6, 7]].tolist() == [1.0, 1.0, 1.0]
            assert probabilities[1].max() < 1.0


def test_a_free_token_may_be_revised_after_it_was_accepted() -> None:
    step = 0

    def wanted(canvas: TokenCanvas) -> list[int]:
        nonlocal step
        step += 1
        return [11 if step <= 3 else 12]

    predict = RulePredict(wanted=wanted, sureness=lambda canvas: [30.0])
    policy = replace(POLICY, stop=lambda canvas, drafts: False)
    denoised, canvases, drafts = run(predict, [None], policy)
    assert canvases[1].ids.tolist() == [11] and canvases[1].is_accepted.tolist() == [True]
    assert [d.ids.item() for d in drafts[:5]] == [11, 11, 11, 12, 12]
    assert denoised.ids.tolist() == [12]


def test_what_is_not_accepted_is_renoised_even_if_accepted_before() -> None:
    """An accepted token is kept one step only: with a bound for one, the others get noise."""
    sureness = iter([[9.0, 1.0], [1.0, 9.0]] + [[1.0, 1.0]] * 20)
    predict = RulePredict(wanted=lambda c: [11, 11], sureness=lambda c: next(sureness))
    policy = replace(POLICY, accept=AcceptAmongFree(entropy_bound=0.0), temperature=_one)
    firsts = set()
    for seed in range(8):
        sureness = iter([[9.0, 1.0], [1.0, 9.0]] + [[1.0, 1.0]] * 20)
        _, canvases, _ = run(predict, [None, None], policy, seed=seed)
        assert canvases[0].is_accepted.tolist() == [True, False]
        assert canvases[1].is_accepted.tolist() == [False, True]
        firsts.add(canvases[1].ids[0].item())
    assert len(firsts) > 2


def test_a_canvas_of_given_tokens_alone_is_done_at_once() -> None:
    denoised, _, _ = run(wants([1, 1]), [4, 5])
    assert (denoised.ids.tolist(), denoised.num_forwards) == ([4, 5], 1)
    assert denoised.finish_reason == "done"


def test_cancel_stops_within_a_step() -> None:
    predict, steps = wants([1] * 8, 0.0), list[int]()
    with pytest.raises(Cancelled):
        denoise(
            predict,
            random_canvas(GIVEN, vocab_size=VOCAB_SIZE, generator=rng()),
            POLICY,
            generator=rng(),
            control=cancelling(lambda: len(steps) == 3),
            on_step=lambda step, canvas, draft: steps.append(step),
        )
    assert len(predict.canvases) == 3


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
