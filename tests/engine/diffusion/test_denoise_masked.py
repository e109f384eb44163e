"""Masked diffusion: unmask by entropy bound, remask what lost its confidence, end with the hole."""

import time
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_predict import RulePredict, wants

from intarsia.engine.diffusion.canvas import TokenCanvas, masked_canvas
from intarsia.engine.diffusion.denoise import Denoised, DenoisingPolicy, Predict, denoise
from intarsia.engine.diffusion.policies import masked_policy
from intarsia.engine.diffusion.renewal import Remask
from intarsia.engine.fill_control import FillControl

MASK, END = 31, 30


def by_end(ids: torch.Tensor) -> int | None:
    return ids.tolist().index(END) if END in ids else None


def masked(*, min_confidence: float = 0.0, **options: Any) -> DenoisingPolicy:
    return masked_policy(renew=Remask(mask_id=MASK, min_confidence=min_confidence), **options)


def run(
    predict: Predict, ids: list[int | None], policy: DenoisingPolicy, *, seed: int = 0
) -> tuple[Denoised, list[TokenCanvas]]:
    canvases: list[TokenCanvas] = []

    denoised = denoise(
        predict,
        masked_canvas(ids, mask_id=MASK),
        policy,
        generator=torch.Generator().manual_seed(seed),
        on_step=lambda step, canvas, draft: canvases.append(canvas),
    )
    return denoised, canvases


def test_sure_tokens_are_unmasked_together() -> None:
    denoised, _ = run(wants([1, 2, 3], 30.0), [None] * 3, masked(max_steps=9))
    assert (denoised.ids.tolist(), denoised.num_forwards) == ([1, 2, 3], 1)
    assert denoised.finish_reason == "done"


def test_unsure_tokens_are_unmasked_one_a_step_from_the_left() -> None:
    policy = masked(max_steps=9)
    denoised, canvases = run(wants([1, 2, 3], [1.0, 3.0, 2.0]), [None] * 3, policy)
    assert [c.ids.tolist() for c in canvases] == [[1, MASK, MASK], [1, 2, MASK], [1, 2, 3]]
    assert denoised.num_forwards == 3


@settings(max_examples=60)
@given(
    ids=st.lists(st.none() | st.integers(0, END), min_size=1, max_size=10),
    seed=st.integers(0, 2**32),
    bound=st.floats(0, 3),
    min_confidence=st.floats(0, 0.99),
    temperature=st.sampled_from([0.0, 0.7]),
)
def test_it_ends_with_every_mask_gone_and_given_tokens_kept(
    ids: list[int | None], seed: int, bound: float, min_confidence: float, temperature: float
) -> None:
    generator = torch.Generator().manual_seed(seed)

    def moody(canvas: TokenCanvas) -> list[float]:
        return (torch.rand(len(canvas), generator=generator) * 6).tolist()

    predict = RulePredict(wanted=lambda canvas: [7] * len(canvas), sureness=moody)
    policy = masked(
        max_steps=max(sum(i is None for i in ids), 1),
        entropy_bound=bound,
        min_confidence=min_confidence,
        temperature=temperature,
    )
    denoised, canvases = run(predict, ids, policy, seed=seed)
    assert denoised.finish_reason == "done"
    num_masks = [int((c.is_free & ~c.is_accepted).sum()) for c in canvases]
    assert num_masks == sorted(set(num_masks), reverse=True)  # fewer in every step
    assert num_masks[-1] == 0
    for row in (denoised.ids, *(canvas.ids for canvas in canvases)):
        assert all(j in (i, None) for i, j in zip(row.tolist(), ids, strict=True))


def _doubter() -> RulePredict:
    """Surest of position 0 at first; once it is settled, sure of the others but not of it."""

    def sureness(canvas: TokenCanvas) -> list[float]:
        if canvas.ids[0] == 1 and not canvas.is_accepted[1]:
            return [0.0, 20.0, 20.0, 1.0]
        return [3.0, 0.0, 0.0, 0.0]

    def wanted(canvas: TokenCanvas) -> list[int]:
        return [1 if not canvas.is_accepted[1] else 9, 2, 3, 4]

    return RulePredict(wanted=wanted, sureness=sureness)


def test_a_settled_token_that_lost_its_confidence_is_remasked_and_revised() -> None:
    policy = masked(max_steps=9, min_confidence=0.3)
    denoised, canvases = run(_doubter(), [None] * 4, policy)
    assert canvases[0].ids.tolist() == [1, MASK, MASK, MASK]
    assert canvases[1].ids.tolist() == [MASK, 2, 3, MASK]
    assert denoised.ids.tolist()[0] == 9


def test_confidence_and_entropy_are_those_under_which_a_token_was_settled() -> None:
    policy = masked(max_steps=9)
    denoised, _ = run(_doubter(), [None] * 4, policy)
    assert denoised.ids[0] == 1
    assert 0.35 < denoised.confidences[0] < 0.45  # e³ of e³ + 31, not the later doubt
    assert denoised.entropies[1] < 0.01


def test_what_lies_behind_the_end_does_not_hold_up_the_stop() -> None:
    policy = masked(max_steps=9, end_position=by_end)
    predict = wants([1, 2, END, 4, 5, 6], [20.0, 20.0, 20.0, 0.5, 0.5, 0.5])
    denoised, canvases = run(predict, [None] * 6, policy)
    assert denoised.num_forwards == 1
    assert denoised.ids.tolist()[:3] == [1, 2, END]
    assert not canvases[-1].is_accepted[3:].any()


def test_the_stop_waits_for_what_lies_before_the_end() -> None:
    policy = masked(max_steps=9, end_position=by_end)
    denoised, canvases = run(wants([1, 2, END, 4], [1.0, 0.9, 20.0, 20.0]), [None] * 4, policy)
    assert canvases[0].is_accepted.tolist() == [True, False, False, False]
    assert denoised.num_forwards == 2
    assert denoised.ids.tolist()[:3] == [1, 2, END]


def test_a_deadline_fills_the_unsettled_positions_with_the_likeliest() -> None:
    denoised = denoise(
        wants([1, 2, 3], [20.0, 1.0, 0.5]),
        masked_canvas([None] * 3, mask_id=MASK),
        masked(max_steps=9, entropy_bound=0.0),
        generator=torch.Generator(),
        control=FillControl(deadline=time.monotonic() - 1),
    )
    assert (denoised.ids.tolist(), denoised.finish_reason) == ([1, 2, 3], "deadline")


def test_a_temperature_draws_by_the_seed() -> None:
    def fills(temperature: float) -> list[tuple[int, ...]]:
        policy = masked(max_steps=9, temperature=temperature)
        runs = (run(wants([1] * 5, 1.0), [None] * 5, policy, seed=seed) for seed in (0, 1, 2, 0))
        return [tuple(denoised.ids.tolist()) for denoised, _ in runs]

    assert fills(0.0) == [(1,) * 5] * 4
    drawn = fills(1.0)
    assert drawn[0] == drawn[3]
    assert len(set(drawn)) > 1


@pytest.mark.parametrize(
    "bad",
    [{"max_steps": 0}, {"entropy_bound": -0.1}, {"min_confidence": 1.0}, {"temperature": -1.0}],
)
def test_parts_out_of_range_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad)).replace("_", ".")):
        masked(**{"max_steps": 9, **bad})  # type: ignore[arg-type]
