"""Tiny causal models of random numbers in Hugging Face's layout, with random drafters."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import save_file
from toy_causal_tokenizer import num_toy_tokens, toy_tokenizer
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from intarsia.engine.config import EngineConfig
from intarsia.engine.families.masked_causal.backbone.drafter import read_drafter
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import (
    FimTokenizer,
    read_fim_tokenizer,
)
from intarsia.engine.families.masked_causal.backbone.int8_backbone import (
    Int8Backbone,
    quantize_weights,
)
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.backbone.load import load_backbone
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape, read_shape
from intarsia.engine.families.masked_causal.backbone.torch_backbone import (
    TorchBackbone,
    read_torch_weights,
)
from intarsia.engine.families.masked_causal.backbone.tuning import rows_tuned_by
from intarsia.engine.families.masked_causal.backbone.weights import read_weights
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.masked_causal.open_context import OpenContext
from intarsia.engine.ipc.messages import Decoding, Fill
from intarsia.engine.model_store.checkpoint import read_config
from intarsia.engine.model_store.locate import ModelFolder, locate_model
from intarsia.engine.service.load_filler import load_filler

Kind = Literal["qwen2", "qwen3", "llama", "llama3"]
KINDS: tuple[Kind, ...] = ("qwen2", "qwen3", "llama", "llama3")
CPU = torch.device("cpu")

_CLASSES = {
    "qwen2": (Qwen2Config, Qwen2ForCausalLM),
    "qwen3": (Qwen3Config, Qwen3ForCausalLM),
    "llama": (LlamaConfig, LlamaForCausalLM),
    "llama3": (LlamaConfig, LlamaForCausalLM),
}
_ROPE: dict[str, Any] = {"rope_type": "default", "rope_theta": 10_000.0}
_LLAMA3_ROPE = _ROPE | {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}


def toy_causal_model(
    kind: Kind, *, seed: int = 0, is_tied: bool = True, **config: Any
) -> PreTrainedModel:
    """Return transformers' own model; its numbers are wide, so that its texts vary."""
    config_class, model_class = _CLASSES[kind]
    usual = {
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "vocab_size": num_toy_tokens() + 2,  # rows that only pad the matrix
        "max_position_embeddings": 512,
        "rope_parameters": _LLAMA3_ROPE if kind == "llama3" else _ROPE,
        "initializer_range": 0.15,
        "bos_token_id": None,
        "eos_token_id": None,
    }
    made = config_class(tie_word_embeddings=is_tied, **(usual | config))
    torch.manual_seed(seed)
    model = model_class(made).eval()
    for name, parameter in model.named_parameters():
        if name.endswith(("bias", "norm.weight")):
            parameter.data += torch.randn_like(parameter) * 0.1
    return model


def silence_layers(model: PreTrainedModel) -> None:
    """Let the last token alone decide, whatever was read."""
    for layer in model.model.layers:
        layer.self_attn.o_proj.weight.data.zero_()
        layer.mlp.down_proj.weight.data.zero_()


def save_toy(folder: Path, model: PreTrainedModel) -> Path:
    """Write what Hugging Face keeps of a model: config.json, safetensors, tokenizer.json."""
    model.save_pretrained(folder)
    toy_tokenizer().save(str(folder / "tokenizer.json"))
    return folder


def drafter_tensors(shape: BackboneShape, *, seed: int) -> dict[str, torch.Tensor]:
    """Return random tensors of a drafter of all tokens, by the names that training gives them."""
    random = torch.Generator().manual_seed(seed)
    hidden, heads = shape.hidden, shape.num_heads * shape.head_dim
    kv, wide, rank = 2 * shape.num_kv_heads * shape.head_dim, 48, 8

    def matrix(*size: int) -> torch.Tensor:
        return torch.randn(size, generator=random) / size[-1] ** 0.5

    tensors = {
        "context": matrix(2 * kv, (shape.num_layers - 1) * hidden),
        "anchor": matrix(hidden, hidden),
        "masks": matrix(5, hidden),
        "norm": torch.ones(hidden),
        "head.down": matrix(rank, 2 * hidden),
        "head.up": matrix(hidden, rank),
        "vocabulary": torch.arange(shape.vocab_size, dtype=torch.int32),
    }
    for i in range(2):
        tensors |= {
            f"{i}.attn_norm": torch.ones(hidden),
            f"{i}.qkv": matrix(heads + kv, hidden),
            f"{i}.o": matrix(hidden, heads),
            f"{i}.mlp_norm": torch.ones(hidden),
            f"{i}.gate_up": matrix(2 * wide, hidden),
            f"{i}.down": matrix(hidden, wide),
        }
    return tensors


def save_drafter(path: Path, folder: Path, *, seed: int = 0) -> Path:
    """Write a random drafter that reads the rows after all layers but the last."""
    shape = read_shape(read_config(folder))
    taps = ",".join(str(layer) for layer in range(1, shape.num_layers))
    save_file(drafter_tensors(shape, seed=seed), path, metadata={"taps": taps})
    return path


def toy_backbone(
    folder: Path,
    drafter: Path | None = None,
    *,
    matrices: Literal["plain", "int8"] = "plain",
    dtype: torch.dtype = torch.float32,
    device: str = "cpu",
) -> CausalBackbone:
    """Return the folder's model as we run it, its rows in ``dtype``; a drafter is on the CPU."""
    shape = read_shape(read_config(folder))
    files = [folder / "model.safetensors"]
    if matrices == "int8":
        int8 = quantize_weights(read_weights(files, shape, is_fused=False))
        drafts = drafter and read_drafter(drafter, shape)
        return Int8Backbone(shape, int8, num_threads=2, drafter=drafts)
    on = torch.device(device)
    weights = read_torch_weights(files, shape, is_fused=False, dtype=dtype, device=on)
    drafts = drafter and read_drafter(
        drafter, shape, lambda numbers: torch.tensor(numbers, dtype=dtype)
    )
    return TorchBackbone(shape, weights, drafter=drafts)


def quiet(*_: object) -> None: ...


def located(model: str) -> ModelFolder:
    return locate_model(model, quiet, rows_tuned_by=rows_tuned_by)


def loaded(model: str) -> CausalBackbone:
    """Return a model with its tunings in float32, loaded as the engine does."""
    folder = located(model)
    return load_backbone(folder, read_shape(folder.config), "float32", "cpu").backbone


def toy_text(folder: Path) -> FimTokenizer:
    return read_fim_tokenizer(folder)


def joined(text: FimTokenizer, ids: Sequence[int]) -> str:
    """Return the text of tokens, byte after byte."""
    return b"".join(map(text.bytes_of, ids)).decode()


def toy_context(
    folder: Path, drafter: Path | None = None, *, cache_tokens: int = 4096
) -> OpenContext:
    return OpenContext(toy_backbone(folder, drafter), cache_tokens=cache_tokens)


def toy_filler(
    folder: Path,
    drafter: Path | None = None,
    *,
    max_context_tokens: int = 256,
    cache_tokens: int = 4096,
) -> MaskedCausalFiller:
    config = EngineConfig(
        model=str(folder),
        drafter=drafter,
        device="cpu",
        dtype="float32",
        max_context_tokens=max_context_tokens,
        cache_tokens=cache_tokens,
    )
    filler = load_filler(config, config.model, quiet)
    assert isinstance(filler, MaskedCausalFiller)
    return filler


def toy_fill(prefix: str = "def f(", suffix: str = "):\n", **fields: Any) -> Fill:
    """Return a request that no earlier one makes easier."""
    options = {"id": 1, "prefix": prefix, "suffix": suffix, "max_tokens": 24, "fresh": True}
    return Fill(**(options | fields))


DECODINGS: tuple[Decoding, ...] = ("speculative", "autoregressive")
