"""Tiny random models of the shapes that differ from ours, as their families' configs have them."""

from collections.abc import Mapping
from typing import Any

import torch
from toy_causal_tokenizer import num_toy_tokens
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

_SIZES: Mapping[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "initializer_range": 0.15,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": None,
    "tie_word_embeddings": False,  # tied ones of this size only repeat the last token
}

WINDOW = 16

OTHER_SHAPES: Mapping[str, Mapping[str, Any]] = {
    "starcoder2": {
        "model_type": "starcoder2",
        "sliding_window": WINDOW,
        "use_bias": True,
        "tie_word_embeddings": True,
    },
    "starcoder2, full attention": {"model_type": "starcoder2", "sliding_window": None, "seed": 1},
    "gemma": {"model_type": "gemma", "head_dim": 32, "num_key_value_heads": 1},
    "granite": {
        "model_type": "granite",
        "seed": 1,
        "embedding_multiplier": 3.0,
        "attention_multiplier": 0.2,
        "residual_multiplier": 0.6,
        "logits_scaling": 0.7,
    },
    "granite code": {"model_type": "llama", "mlp_bias": True, "attention_bias": True},
    "qwen3_moe": {
        "model_type": "qwen3_moe",
        "head_dim": 16,
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 32,
    },
    "mistral with a window": {"model_type": "mistral", "sliding_window": WINDOW},
    "qwen2 with a window in some layers": {
        "model_type": "qwen2",
        "use_sliding_window": True,
        "sliding_window": WINDOW,
        "max_window_layers": 1,
    },
    "llama with yarn": {
        "model_type": "llama",
        "rope_parameters": {
            "rope_type": "yarn",
            "rope_theta": 10_000.0,
            "factor": 4.0,
            "original_max_position_embeddings": 64,
        },
    },
}

DEEPSEEK_CODER: Mapping[str, Any] = {
    "model_type": "llama",
    "rope_parameters": {"rope_type": "linear", "rope_theta": 10_000.0, "factor": 4.0},
}
"""Our own passes compute this one."""


def toy_other_model(shape: Mapping[str, Any]) -> PreTrainedModel:
    """Return transformers' own model; its numbers are wide, so that its texts vary.

    ``seed`` in a shape is one that gives a varied text.
    """
    options = {**_SIZES, "vocab_size": num_toy_tokens() + 2, **shape}
    seed = options.pop("seed", 0)
    config = AutoConfig.for_model(options.pop("model_type"), **options)
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(config).eval()
    for name, parameter in model.named_parameters():
        if name.endswith(("bias", "norm.weight")):
            parameter.data += torch.randn_like(parameter) * 0.1
        elif parameter.dim() > 1 and not parameter.any():
            raise AssertionError(f"{name} is zero: a wrong sum would not be seen")
    return model
