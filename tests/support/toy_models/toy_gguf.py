"""The GGUF file that llama.cpp would make of a tiny causal model of random numbers."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import gguf
import numpy as np
from tokenizers.pre_tokenizers import ByteLevel
from torch import Tensor
from toy_causal import toy_causal_model
from transformers import PreTrainedModel

Architecture = Literal["qwen2", "qwen3", "llama"]
SPECIAL_TOKENS = ("<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
MERGES = ("d e", "de f", "r e", "Ġ Ġ")

_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def toy_tokens() -> list[str]:
    """All bytes, four merges, four special tokens, and rows that only pad the matrix."""
    bytes_and_merges = [*sorted(ByteLevel.alphabet()), *(m.replace(" ", "") for m in MERGES)]
    return [*bytes_and_merges, *SPECIAL_TOKENS, "[PAD264]", "[PAD265]"]


def toy_model(architecture: Architecture, *, is_tied: bool) -> PreTrainedModel:
    """Return a causal model of two layers with the vocabulary of the file."""
    return toy_causal_model(
        architecture,
        is_tied=is_tied,
        num_hidden_layers=2,
        vocab_size=len(toy_tokens()),
        max_position_embeddings=256,
        rms_norm_eps=1e-6,
        initializer_range=0.02,
    )


@dataclass(kw_only=True, slots=True)
class ToyGguf:
    """What to write beside the model: the cases of a test change it."""

    architecture: Architecture
    repeats_tied_output: bool = False
    name_in_file: str | None = None  # an architecture that is not the model's own
    fields: dict[str, Any] = field(default_factory=dict)
    drops: tuple[str, ...] = ()
    adds: dict[str, Tensor] = field(default_factory=dict)
    pre_tokenizer: str = "qwen2"


def write_gguf(path: Path, model: PreTrainedModel, toy: ToyGguf) -> Path:
    writer = gguf.GGUFWriter(path, toy.name_in_file or toy.architecture)
    _write_shape(writer, model)
    _write_tokens(writer, toy)
    for key, value in toy.fields.items():
        writer.add_string(key, value) if isinstance(value, str) else writer.add_uint32(key, value)
    tensors = _tensors(model, toy) | toy.adds
    for name, tensor in tensors.items():
        if name not in toy.drops:
            _write_tensor(writer, name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _write_shape(writer: gguf.GGUFWriter, model: PreTrainedModel) -> None:
    config = model.config
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_rope_freq_base(10_000.0)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)


def _write_tokens(writer: gguf.GGUFWriter, toy: ToyGguf) -> None:
    tokens = toy_tokens()
    types = {"<": gguf.TokenType.CONTROL, "[": gguf.TokenType.UNUSED}
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(toy.pre_tokenizer)
    writer.add_token_list(tokens)
    writer.add_token_types(
        [types.get(t[0], gguf.TokenType.NORMAL) if len(t) > 4 else 1 for t in tokens]
    )
    writer.add_token_merges(list(MERGES))
    writer.add_bos_token_id(tokens.index("<|endoftext|>"))
    writer.add_eos_token_id(tokens.index("<|endoftext|>"))


def _tensors(model: PreTrainedModel, toy: ToyGguf) -> dict[str, Tensor]:
    heads = {"attn_q": model.config.num_attention_heads, "attn_k": model.config.num_key_value_heads}
    tensors = {}
    for name, parameter in model.named_parameters():
        stem, _, kind = name.rpartition(".")
        layer = ""
        if stem.startswith("model.layers."):
            _, _, number, stem = stem.split(".", 3)
            layer = f"blk.{number}."
        short = _NAMES[stem]
        tensor = parameter.detach()
        if toy.architecture == "llama" and short in heads:
            tensor = _interleaved(tensor, heads[short])
        tensors[f"{layer}{short}.{kind}"] = tensor
    if toy.repeats_tied_output:
        tensors["output.weight"] = tensors["token_embd.weight"]
    return tensors


def _interleaved(tensor: Tensor, num_heads: int) -> Tensor:
    """Order a head's rows as llama.cpp's Llama has them: the two halves in turn."""
    halves = tensor.reshape(num_heads, 2, -1, *tensor.shape[1:])
    return halves.transpose(1, 2).reshape(tensor.shape)


def _write_tensor(writer: gguf.GGUFWriter, name: str, tensor: Tensor) -> None:
    """Store matrices coarsely, as a small GGUF does; the embedding most coarsely of all."""
    array = tensor.numpy().astype(np.float32)
    if array.ndim == 1:
        writer.add_tensor(name, array)
        return
    kind = gguf.GGMLQuantizationType.Q8_0
    if name == "token_embd.weight":
        kind = gguf.GGMLQuantizationType.Q5_0
    writer.add_tensor(name, gguf.quantize(array, kind), raw_dtype=kind)
