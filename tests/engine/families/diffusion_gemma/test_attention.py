"""Heads that stand below each other attend as transformers' own do."""

from typing import Any

import pytest
import torch
from tiny_diffusion_gemma import SLIDING_WINDOW, VOCAB_SIZE, tiny_model

from intarsia.engine.diffusion.canvas import random_canvas
from intarsia.engine.families.diffusion_gemma.backbone.attention import fold_heads, folded_attention
from intarsia.engine.families.diffusion_gemma.backbone.model import DiffusionGemmaBackbone

# transformers' own import of a torch module warns.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script_method:DeprecationWarning")


@pytest.mark.parametrize("is_masked", [False, True])
@pytest.mark.parametrize("num_key_heads", [1, 2, 4])
def test_folded_attention_is_attention_with_repeated_keys(
    num_key_heads: int, is_masked: bool
) -> None:
    random = torch.Generator().manual_seed(num_key_heads)
    queries = torch.randn(3, 4, 5, 8, generator=random)
    keys, values = torch.randn(2, 3, num_key_heads, 11, 8, generator=random)
    is_seen = torch.rand(3, 1, 1, 11, generator=random) < 0.7
    mask = is_seen.expand(-1, -1, 5, -1) if is_masked else None
    repeated = [each.repeat_interleave(4 // num_key_heads, dim=1) for each in (keys, values)]
    expected = torch.nn.functional.scaled_dot_product_attention(
        queries, *repeated, attn_mask=mask, scale=0.5
    )
    torch.testing.assert_close(folded_attention(queries, keys, values, mask, 0.5), expected)


@pytest.mark.parametrize("length", [3, SLIDING_WINDOW, 5 * SLIDING_WINDOW])
def test_a_model_predicts_as_before(length: int) -> None:
    plain, folded = (DiffusionGemmaBackbone(model) for model in (tiny_model(), folded_model()))
    context = [i % 50 + 3 for i in range(length)]
    canvas = random_canvas(
        [None] * 12, vocab_size=VOCAB_SIZE, generator=torch.Generator().manual_seed(1)
    )
    for backbone in (plain, folded):
        backbone.prefill(context[: length // 2])
        backbone.prefill(context)  # after tokens that are held, the encoder has a mask
    expected = plain.predict(canvas, None)
    torch.testing.assert_close(folded.predict(canvas, None), expected, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(
        folded.predict(canvas, expected), plain.predict(canvas, expected), atol=1e-4, rtol=1e-4
    )


def folded_model() -> Any:
    model = tiny_model()
    fold_heads(model)
    return model


def test_only_this_model_attends_so() -> None:
    before, folded = tiny_model(), folded_model()
    names = [attention_of(each) for each in (before, folded, tiny_model())]
    assert names == ["sdpa", "intarsia_folded", "sdpa"]


def attention_of(model: Any) -> str:
    name: str = model.model.decoder.layers[0].self_attn.config._attn_implementation
    return name
