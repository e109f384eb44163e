"""A model of random numbers is built as transformers builds one, and shares what it shares."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from intarsia_research.model_cost.gemma_shape import gemma_config
from intarsia_research.model_cost.random_gemma import random_gemma

# transformers' own import of a torch module warns.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script_method:DeprecationWarning")

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def toy() -> Any:
    return random_gemma(gemma_config("toy"), device=CPU, dtype=torch.float32)


def of_text(named: Iterator[tuple[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    return {name: tensor for name, tensor in named if "vision" not in name}


def test_buffers_and_spread_are_those_of_a_model_that_transformers_made(toy: Any) -> None:
    from transformers import DiffusionGemmaForBlockDiffusion

    theirs = DiffusionGemmaForBlockDiffusion(gemma_config("toy"))
    ours, buffers = dict(toy.named_buffers()), of_text(theirs.named_buffers())
    assert ours.keys() == buffers.keys()
    for name, buffer in buffers.items():
        torch.testing.assert_close(ours[name], buffer, msg=name)
    weights = of_text(theirs.named_parameters())
    assert dict(toy.named_parameters()).keys() == weights.keys()
    for name, weight in toy.named_parameters():
        assert weight.std().item() == pytest.approx(weights[name].detach().std().item(), rel=0.2), (
            name
        )


def test_encoder_and_decoder_share_their_weights(toy: Any) -> None:
    decoder, encoder = toy.model.decoder, toy.model.encoder.language_model
    assert toy.lm_head.weight is decoder.embed_tokens.weight is encoder.embed_tokens.weight
    for ours, theirs in zip(decoder.layers, encoder.layers, strict=True):
        assert ours.experts.gate_up_proj is theirs.experts.gate_up_proj
        assert ours.self_attn.q_proj.weight is theirs.self_attn.q_proj.weight


def test_the_numbers_follow_the_seed_and_leave_the_caller_s_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first, again, other = (
        random_gemma(gemma_config("toy"), device=CPU, dtype=torch.float32, seed=seed).lm_head.weight
        for seed in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(torch.rand(3), expected)


def test_the_published_shape_has_as_many_numbers_as_the_released_model() -> None:
    """On no device: 25.2 B in all, 22.84 B in experts, 1.11 B in attention (its card's figures)."""
    from intarsia_research.model_cost.random_gemma import on_meta

    model = on_meta(gemma_config("published"), torch.bfloat16)
    sizes = {name: weight.numel() for name, weight in of_text(model.named_parameters()).items()}
    assert sum(sizes.values()) == pytest.approx(25.2e9, rel=0.005)
    assert sum(n for name, n in sizes.items() if ".experts." in name) == pytest.approx(
        22.84e9, rel=1e-3
    )
    assert sum(n for name, n in sizes.items() if ".self_attn." in name) == pytest.approx(
        1.11e9, rel=1e-3
    )
