"""A quantised model is smaller, says nearly what it said, and keeps its small parts."""

from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_diffusion_gemma import CODE, VOCAB_SIZE, save_tiny_checkpoint, tiny_model
from torch import Tensor

from intarsia.engine.config import EngineConfig
from intarsia.engine.diffusion.canvas import random_canvas
from intarsia.engine.errors import ModelError
from intarsia.engine.families.diffusion_gemma.backbone.model import DiffusionGemmaBackbone
from intarsia.engine.families.diffusion_gemma.quantized.linear import (
    LowBit,
    LowBitMatrix,
    from_int4,
    to_int4,
)
from intarsia.engine.families.diffusion_gemma.quantized.quantize import (
    LowBitExperts,
    quantize_gemma,
)
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.ipc.messages import Fill
from intarsia.engine.service.load_filler import load_filler

# transformers' own import of a torch module warns.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script_method:DeprecationWarning")

CPU = torch.device("cpu")


def quantised(kind: LowBit) -> Any:
    model = tiny_model().to(torch.bfloat16)
    quantize_gemma(model, kind, CPU)
    return model


def logits_of(model: Any) -> Tensor:
    backbone = DiffusionGemmaBackbone(model)
    backbone.prefill([i % 50 + 3 for i in range(30)])
    canvas = random_canvas(
        [None] * 12, vocab_size=VOCAB_SIZE, generator=torch.Generator().manual_seed(1)
    )
    return backbone.predict(canvas, None)


def test_int4_predicts_as_the_numbers_do_that_it_keeps() -> None:
    """Nothing but the rounding of matrices changes: not the routes, not the order of layers."""
    rounded, held = tiny_model(), tiny_model()
    for layer in rounded.model.decoder.layers:
        large = [
            part.weight
            for part in (*layer.self_attn.children(), *layer.mlp.children())
            if isinstance(part, torch.nn.Linear)
        ]
        for weight in (*large, layer.experts.gate_up_proj, layer.experts.down_proj):
            with torch.no_grad():
                weight.copy_(from_int4(*to_int4(weight)))
    plain = logits_of(tiny_model())
    quantize_gemma(held, "int4", CPU)
    ours = logits_of(held)
    torch.testing.assert_close(ours, logits_of(rounded), atol=1e-4, rtol=1e-4)
    assert not torch.allclose(ours, plain, atol=0.1)


@pytest.mark.parametrize("kind", ["fp8", "int4"])
def test_encoder_and_decoder_share_what_is_new_and_small_parts_stay(kind: LowBit) -> None:
    model, before = quantised(kind), tiny_model().to(torch.bfloat16)
    decoder, encoder = model.model.decoder.layers, model.model.encoder.language_model.layers
    for ours, theirs, old in zip(decoder, encoder, before.model.decoder.layers, strict=True):
        assert isinstance(ours.experts, LowBitExperts) and ours.experts is theirs.experts
        assert isinstance(ours.self_attn.q_proj, LowBitMatrix)
        assert ours.self_attn.q_proj is theirs.self_attn.q_proj
        assert ours.mlp.down_proj is theirs.mlp.down_proj
        assert torch.equal(ours.router.proj.weight, old.router.proj.weight)
        assert torch.equal(ours.input_layernorm.weight, old.input_layernorm.weight)
    assert torch.equal(model.lm_head.weight, before.lm_head.weight)
    kept = {tensor.dtype for tensor in model.parameters()}
    assert kept == {torch.bfloat16}


@pytest.mark.parametrize(("kind", "bits"), [("fp8", 8 + 32 / 32), ("int4", 4 + 16 / 32)])
def test_experts_take_as_many_bits_as_they_should(kind: LowBit, bits: float) -> None:
    """With rows of 32 a float8 scale, and with groups of 32 an int4 scale, weigh in."""
    experts = quantised(kind).model.decoder.layers[0].experts.gate_up
    num_bytes = sum(tensor.nbytes for tensor in experts.buffers())
    assert num_bytes == pytest.approx(4 * 32 * 32 * bits / 8)


def test_a_quantised_model_fills_and_says_how_it_is_held(tmp_path: Path) -> None:
    folder = save_tiny_checkpoint(tmp_path)
    config = EngineConfig(model=str(folder), device="cpu", dtype="bfloat16", quantize="int4")
    filler = load_filler(config, config.model, lambda stage, fraction: None)
    assert filler.info.dtype == "bfloat16, int4"
    prefix, suffix = CODE.split("first + second")
    filled = filler.fill(Fill(id=7, prefix=prefix, suffix=suffix, max_tokens=8), NO_CONTROL)
    assert (filled.id, filled.num_forwards > 1) == (7, True)


def test_fp8_is_refused_where_there_is_no_such_card(tmp_path: Path) -> None:
    folder = save_tiny_checkpoint(tmp_path)
    config = EngineConfig(model=str(folder), device="cpu", quantize="fp8")
    with pytest.raises(ModelError, match=r"fp8 needs an NVIDIA card .* not cpu: take `--quantize"):
        load_filler(config, config.model, lambda stage, fraction: None)
