"""Turn the metadata of a GGUF file into the config.json of the same model in Hugging Face's layout.

Reads no tensor.
"""

from collections.abc import Mapping
from typing import Any

from intarsia.engine.errors import ModelError

ARCHITECTURES = {
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
    "llama": "LlamaForCausalLM",
}


def config_from_gguf(fields: Mapping[str, Any], *, is_tied: bool) -> dict[str, Any]:
    """Return the content of config.json. Raises ModelError for a shape that is not supported.

    ``is_tied``: the output matrix is the embedding matrix.
    """
    architecture = str(fields.get("general.architecture"))
    if architecture not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        raise ModelError(f"GGUF architecture {architecture!r} is not supported: use one of {known}")
    own = {
        key.removeprefix(f"{architecture}."): value
        for key, value in fields.items()
        if key.startswith(f"{architecture}.")
    }
    _refuse_variants(own)
    try:
        return _shape(architecture, own, fields, is_tied)
    except KeyError as missing:
        raise ModelError(
            f"the GGUF file lacks the field {architecture}.{missing.args[0]}: download it again"
        ) from missing


def _refuse_variants(own: Mapping[str, Any]) -> None:
    if own.get("expert_count", 0):
        raise ModelError("a GGUF mixture of experts is not supported: use a dense model")
    if own.get("rope.scaling.type", "none") != "none":
        raise ModelError(
            "a GGUF file with scaled RoPE is not supported: use a model without scaling"
        )


def _shape(
    architecture: str, own: Mapping[str, Any], fields: Mapping[str, Any], is_tied: bool
) -> dict[str, Any]:
    hidden_size, num_heads = own["embedding_length"], own["attention.head_count"]
    rope_theta = float(own.get("rope.freq_base", 10_000.0))
    return {
        "architectures": [ARCHITECTURES[architecture]],
        "model_type": architecture,
        "hidden_act": "silu",
        "hidden_size": hidden_size,
        "intermediate_size": own["feed_forward_length"],
        "num_hidden_layers": own["block_count"],
        "num_attention_heads": num_heads,
        "num_key_value_heads": own.get("attention.head_count_kv", num_heads),
        "head_dim": own.get("attention.key_length", hidden_size // num_heads),
        "max_position_embeddings": own["context_length"],
        "rms_norm_eps": _shortest(own["attention.layer_norm_rms_epsilon"]),
        "rope_theta": rope_theta,
        "rope_parameters": {"rope_type": "default", "rope_theta": rope_theta},
        "tie_word_embeddings": is_tied,
        "vocab_size": len(fields["tokenizer.ggml.tokens"]),
        "bos_token_id": fields.get("tokenizer.ggml.bos_token_id"),
        "eos_token_id": fields.get("tokenizer.ggml.eos_token_id"),
        "dtype": "bfloat16",
    }


def _shortest(single: float) -> float:
    """Return the shortest number of single precision: 1e-06 for 9.999999974752427e-07."""
    return float(f"{single:.7g}")
