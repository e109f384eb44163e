"""Write a model folder with the default model's shape and random weights.

It is for machines without the real weights: a pass costs the same, only its text is meaningless.
The tokenizer is the real one, from a folder of the converted model.
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer

from intarsia.engine.model_store.gguf.fused_layout import FUSED_FORMAT

DEFAULT_CONFIG: Mapping[str, Any] = {  # Qwen2.5-Coder-0.5B
    "model_type": "qwen2",
    "hidden_act": "silu",
    "hidden_size": 896,
    "intermediate_size": 4864,
    "num_hidden_layers": 24,
    "num_attention_heads": 14,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "max_position_embeddings": 32_768,
    "rms_norm_eps": 1e-6,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1_000_000.0},
    "tie_word_embeddings": True,
    "vocab_size": 151_936,
}


def write_random_backbone(
    folder: Path, tokenizer: Path, config: Mapping[str, Any] = DEFAULT_CONFIG
) -> Path:
    """Write config, tokenizer and weights (1 GB at the default) into a new folder; return it."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    shutil.copyfile(tokenizer, folder / "tokenizer.json")
    random = torch.Generator().manual_seed(0)
    tensors = {
        name: torch.ones(shape, dtype=torch.bfloat16)
        if name.endswith("norm")
        else torch.empty(shape, dtype=torch.bfloat16).normal_(std=0.02, generator=random)
        for name, shape in _shapes(config).items()
    }
    # zero rows are never the likeliest token, so no fill ends before its first pass
    tensors["embed"][_special_ids(tokenizer)] = 0
    save_file(tensors, folder / "model.safetensors", metadata={"format": FUSED_FORMAT})
    return folder


def _special_ids(tokenizer: Path) -> list[int]:
    """Return the ids of the special tokens, which end a text."""
    added = Tokenizer.from_file(str(tokenizer)).get_added_tokens_decoder()
    return [token_id for token_id, token in added.items() if token.special]


def _shapes(config: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    heads = config["num_attention_heads"] * config["head_dim"]
    joined = heads + 2 * config["num_key_value_heads"] * config["head_dim"]
    shapes: dict[str, tuple[int, ...]] = {
        "embed": (config["vocab_size"], hidden),
        "norm": (hidden,),
    }
    for number in range(config["num_hidden_layers"]):
        layer = {
            "attn_norm": (hidden,),
            "qkv": (joined, hidden),
            "qkv_bias": (joined,),
            "o": (hidden, heads),
            "mlp_norm": (hidden,),
            "gate_up": (2 * inner, hidden),
            "down": (hidden, inner),
        }
        shapes |= {f"layers.{number}.{part}": shape for part, shape in layer.items()}
    return shapes
