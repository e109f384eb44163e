"""A model that learned something fills holes between given tokens, and finds their length."""

import copy
from typing import Any

import pytest
import torch
from counting_diffusion_gemma import VOCAB_SIZE, counting, train_counting_model

from intarsia.engine.diffusion.canvas import TokenCanvas, random_canvas
from intarsia.engine.diffusion.denoise import denoise
from intarsia.engine.diffusion.length import choose_length
from intarsia.engine.diffusion.policies import uniform_state_policy
from intarsia.engine.families.diffusion_gemma.backbone.model import DiffusionGemmaBackbone
from intarsia.engine.families.diffusion_gemma.quantized.quantize import LowBit, quantize_gemma
from intarsia.engine.fill_control import NO_CONTROL

NUM_FREE = 5


@pytest.fixture(scope="module")
def model() -> Any:
    return train_counting_model()


@pytest.fixture(scope="module")
def backbone(model: Any) -> DiffusionGemmaBackbone:
    return DiffusionGemmaBackbone(model)


def noisy(start: int, num_free: int) -> TokenCanvas:
    """One given token, a hole, and a suffix that fits after NUM_FREE tokens."""
    suffix = counting(start + 1 + NUM_FREE, 11 - num_free)
    generator = torch.Generator().manual_seed(start)
    ids = [start % VOCAB_SIZE, *[None] * num_free, *suffix]
    return random_canvas(ids, vocab_size=VOCAB_SIZE, generator=generator)


def num_right_fills(backbone: DiffusionGemmaBackbone, starts: range) -> int:
    """Return the number of holes after these tokens that are filled rightly."""
    num_right = 0
    for start in starts:
        backbone.prefill(counting(start - 4, 4))
        denoised = denoise(
            backbone.predict,
            noisy(start, NUM_FREE),
            uniform_state_policy(vocab_size=VOCAB_SIZE, max_steps=24),
            generator=torch.Generator().manual_seed(start),
        )
        num_right += denoised.ids.tolist() == counting(start, 12)
    return num_right


def test_holes_between_given_tokens_are_filled_rightly(backbone: DiffusionGemmaBackbone) -> None:
    assert num_right_fills(backbone, range(VOCAB_SIZE)) >= VOCAB_SIZE - 3


@pytest.mark.parametrize("kind", ["fp8", "int4"])
def test_what_was_learned_outlives_fewer_bits(model: Any, kind: LowBit) -> None:
    fewer = copy.deepcopy(model).to(torch.bfloat16)
    quantize_gemma(fewer, kind, torch.device("cpu"))
    starts = range(0, VOCAB_SIZE, 4)
    assert num_right_fills(DiffusionGemmaBackbone(fewer), starts) >= len(starts) - 1


def test_the_right_length_is_chosen(backbone: DiffusionGemmaBackbone) -> None:
    num_right = 0
    for start in range(VOCAB_SIZE):
        backbone.prefill(counting(start - 4, 4))
        choice = choose_length(
            backbone.predict,
            [1, 3, NUM_FREE, 7, 9],
            lambda length, start=start: noisy(start, length),  # type: ignore[misc]
            control=NO_CONTROL,
        )
        num_right += choice.num_tokens == NUM_FREE
    assert num_right >= VOCAB_SIZE - 3
