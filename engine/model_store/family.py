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
    "diffusion_gemma": "diffusion_gemma",
}


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


def _oddity(config: Mapping[str, Any]) -> str | None:
    """Return how the model differs from the plain Llama shape, None if it does not."""
    rope = config.get("rope_parameters") or config.get("rope_scaling")
    if isinstance(rope, dict):  # read_shape refuses any other type
        kind = rope.get("rope_type", rope.get("type", "default"))
        if kind not in ("default", "llama3"):
            return f"scaled RoPE ({kind})"
    if config.get("quantization_config"):
        return "quantised weights"
    if config.get("hidden_act", "silu") != "silu":
        return f"the activation {config['hidden_act']}"
    if config.get("mlp_bias"):
        return "biases in its feed-forward layers"
    if _has_sliding_window(config):
        return "a sliding window"
    return None


def _has_sliding_window(config: Mapping[str, Any]) -> bool:
    """Qwen's configs may name a window and switch it off; Mistral's use each window they name."""
    return bool(config.get("sliding_window")) and bool(
        config.get("use_sliding_window", config["model_type"] == "mistral")
    )
