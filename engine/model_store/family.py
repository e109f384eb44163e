"""Tell from a model's config which family runs it, or why none does."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from intarsia.engine.errors import ModelError

Family: TypeAlias = Literal["masked_causal", "diffusion_gemma"]

FAMILIES: Mapping[str, Family] = {
    "qwen2": "masked_causal",
    "qwen3": "masked_causal",
    "llama": "masked_causal",
    "mistral": "masked_causal",
    "starcoder2": "masked_causal",
    "gemma": "masked_causal",
    "granite": "masked_causal",
    "qwen3_moe": "masked_causal",
    "diffusion_gemma": "diffusion_gemma",
}

_OWN_SHAPES = ("qwen2", "qwen3", "llama", "mistral")
# The others, such as dynamic, depend on the length of the text: kept keys would become wrong.
_FIXED_ROPES = ("default", "llama3", "linear", "yarn")
_OWN_ROPES = ("default", "llama3", "linear")


def family_of(config: Mapping[str, Any], where: str) -> Family:
    """Return the family for this config.json. Raises ModelError for a model that none runs.

    ``where`` names the model in the message.
    """
    model_type = config.get("model_type")
    family = FAMILIES.get(model_type) if isinstance(model_type, str) else None
    if family is None:
        known = ", ".join(FAMILIES)
        raise ModelError(f"{where} has model_type {model_type!r}: use a model with one of {known}")
    if family == "masked_causal" and (oddity := _oddity(config)):
        raise ModelError(f"{where} has {oddity}, which is not supported: use a plain variant of it")
    return family


def is_run_by_transformers(config: Mapping[str, Any]) -> bool:
    """Tell whether a causal model differs from the shape that our own passes compute."""
    return (
        config.get("model_type") not in _OWN_SHAPES
        or _rope_kind(config) not in _OWN_ROPES
        or config.get("hidden_act", "silu") != "silu"
        or bool(config.get("mlp_bias"))
        or bool(config.get("attention_bias"))  # of the output too
        or _has_sliding_window(config)
    )


def _oddity(config: Mapping[str, Any]) -> str | None:
    """Return why the model would be computed wrongly, None if it would not."""
    if (kind := _rope_kind(config)) not in _FIXED_ROPES:
        return f"scaled RoPE ({kind})"
    if config.get("quantization_config"):
        return "quantised weights"
    return None


def _rope_kind(config: Mapping[str, Any]) -> str:
    rope = config.get("rope_parameters") or config.get("rope_scaling")
    if not isinstance(rope, dict):  # read_shape refuses any other type
        return "default"
    return str(rope.get("rope_type") or rope.get("type") or "default")


def _has_sliding_window(config: Mapping[str, Any]) -> bool:
    """Qwen's configs may name a window and switch it off; Mistral's use each window they name."""
    return bool(config.get("sliding_window")) and bool(
        config.get("use_sliding_window", config["model_type"] == "mistral")
    )
