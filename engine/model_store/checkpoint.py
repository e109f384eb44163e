"""Check a model's folder: config, weights, tokenizer, and which family runs it. Reads no tensor."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from intarsia.engine.cache.own_file import read_regular
from intarsia.engine.errors import ModelError

Family: TypeAlias = Literal["masked_causal", "diffusion_gemma"]

_CLASSES: Mapping[str, str] = {
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
    "llama": "LlamaForCausalLM",
    "mistral": "MistralForCausalLM",
    "starcoder2": "Starcoder2ForCausalLM",
    "gemma": "GemmaForCausalLM",
    "granite": "GraniteForCausalLM",
    "qwen3_moe": "Qwen3MoeForCausalLM",
    "diffusion_gemma": "DiffusionGemmaForBlockDiffusion",
}
"""The model types that are run, each with its class in transformers. Other models that name such a
type, and a class of their own, are something else: diffusion models among them."""

FAMILIES: Mapping[str, Family] = {
    model_type: "diffusion_gemma" if model_type == "diffusion_gemma" else "masked_causal"
    for model_type in _CLASSES
}

_READ_QUANTIZATIONS = ("modelopt", "compressed-tensors")  # by families/diffusion_gemma/weights.py

_OWN_SHAPES = ("qwen2", "qwen3", "llama", "mistral")
# The others, such as dynamic, depend on the length of the text: kept keys would become wrong.
_FIXED_ROPES = ("default", "llama3", "linear", "yarn")
_OWN_ROPES = ("default", "llama3", "linear")


def family_of(config: Mapping[str, Any], where: str) -> Family:
    """Return the family for this config of ``where``. Raises ModelError if none runs it."""
    model_type = config.get("model_type")
    family = FAMILIES.get(model_type) if isinstance(model_type, str) else None
    if family is None:
        known = ", ".join(FAMILIES)
        raise ModelError(f"{where} has model_type {model_type!r}: use a model with one of {known}")
    if oddity := _oddity(config, family):
        raise ModelError(f"{where} has {oddity}, which is not supported: use a plain variant of it")
    if family == "diffusion_gemma" and (method := _unread_quantization(config)):
        raise ModelError(
            f"{where} is quantised by {method}, which is not read here: take the model in "
            "bfloat16, which is quantised when it is loaded, or as Model Optimizer or "
            "compressed-tensors quantise it"
        )
    return family


def is_run_by_transformers(config: Mapping[str, Any]) -> bool:
    """Return whether a causal model differs from the shape that our own passes compute."""
    return (
        config.get("model_type") not in _OWN_SHAPES
        or _rope_kind(config) not in _OWN_ROPES
        or config.get("hidden_act", "silu") != "silu"
        or bool(config.get("mlp_bias"))
        or bool(config.get("attention_bias"))  # of the output too
        or _has_sliding_window(config)
    )


def _oddity(config: Mapping[str, Any], family: Family) -> str | None:
    """Return why the model would be computed wrongly, None if it would not."""
    if "auto_map" in config:
        return "code of its own"
    own = config.get("architectures")
    if isinstance(own, list) and own and _CLASSES[config["model_type"]] not in own:
        return f"the architecture {str(own[0])[:60]}"
    if family == "diffusion_gemma":
        return None
    if (kind := _rope_kind(config)) not in _FIXED_ROPES:
        return f"scaled RoPE ({kind})"
    if config.get("quantization_config"):
        return "quantised weights"
    return None


def _unread_quantization(config: Mapping[str, Any]) -> str | None:
    """Return the program that quantised a DiffusionGemma, None if its tensors can be read."""
    if not (quantization := config.get("quantization_config")):
        return None
    if not isinstance(quantization, Mapping):
        return "an unknown program"
    method = quantization.get("quant_method") or quantization.get("producer", {}).get("name")
    return None if method in _READ_QUANTIZATIONS else str(method or "an unknown program")[:60]


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


_MAX_HEADER_BYTES = 100_000_000  # safetensors' own limit


@dataclass(frozen=True, kw_only=True, slots=True)
class SafetensorsHeader:
    """``tensors`` maps names to their dtype, shape and data_offsets."""

    metadata: Mapping[str, str]
    tensors: Mapping[str, Mapping[str, Any]]


def read_safetensors_header(path: Path) -> SafetensorsHeader:
    """Return the file's header. Raises ModelError for a file that is missing or damaged."""
    try:
        entries, num_data_bytes = _read(path)
        metadata = dict(entries.pop("__metadata__", {}))
        end = max((entry["data_offsets"][1] for entry in entries.values()), default=0)
    except OSError as fault:
        raise ModelError(f"cannot read {path}: {fault.strerror}") from fault
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as fault:
        raise _damaged(path, f"not a safetensors header: {fault}") from fault
    if not entries:
        raise _damaged(path, "it has no tensor")
    if end != num_data_bytes:
        raise _damaged(path, f"{end:,} bytes of numbers announced, {num_data_bytes:,} there")
    return SafetensorsHeader(metadata=metadata, tensors=entries)


def _read(path: Path) -> tuple[dict[str, Any], int]:
    """Return the header's entries and the number of bytes after it."""
    num_bytes = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(_MAX_HEADER_BYTES, num_bytes - 8):
            raise ValueError("its length is out of range")
        entries = json.loads(file.read(length))
    return dict(entries), num_bytes - 8 - length


def _damaged(path: Path, reason: str) -> ModelError:
    return ModelError(f"{path} is damaged ({reason}): remove it and download it again")


_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")


def read_config(folder: Path) -> Mapping[str, Any]:
    """Return the content of config.json. Raises ModelError if the folder has no model."""
    path = folder / "config.json"
    if not path.is_file():
        if ggufs := sorted(folder.glob("*.gguf")):
            raise ModelError(f"{folder} has no config.json: give the file {ggufs[0]} itself")
        raise ModelError(
            f"{folder} is not a model's folder: "
            "looked for config.json, tokenizer.json and *.safetensors"
        )
    return _read_json(path)


def weight_files(folder: Path) -> tuple[Path, ...]:
    """Return the safetensors files. Raises ModelError for a missing, damaged or cut one."""
    files = _listed_weights(folder)
    if not files:
        raise ModelError(_why_no_weights(folder))
    for file in files:
        read_safetensors_header(file)
    return files


def own_format(files: tuple[Path, ...]) -> str | None:
    """Return the format that the header of a single file names."""
    return read_safetensors_header(files[0]).metadata.get("format") if len(files) == 1 else None


def require_tokenizer(folder: Path) -> None:
    """Raise ModelError unless tokenizer.json is there, of a model that does not fill masks."""
    if not (folder / "tokenizer.json").is_file():
        raise ModelError(f"{folder} has no tokenizer.json: download it from the model's source")
    if mask := _mask_token(folder / "tokenizer_config.json"):
        raise ModelError(f"{folder} has the mask token {mask}: take a model that writes in order")


def _mask_token(settings: Path) -> str | None:
    """Return the token that stands for what is to be filled; None of settings that are no use."""
    try:
        token = _read_json(settings).get("mask_token") if settings.is_file() else None
    except ModelError:
        return None
    return str(token)[:60] if token else None


def _listed_weights(folder: Path) -> tuple[Path, ...]:
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        shards = _read_json(index).get("weight_map")
        if not isinstance(shards, dict) or not shards:
            raise ModelError(f"{index} is damaged (no weight_map): download it again")
        # Names only: a path that leads out of the folder is not a file of the model.
        names = {Path(str(shard)).name for shard in shards.values()}
        return tuple(folder / name for name in sorted(names))
    whole = folder / "model.safetensors"
    return (whole,) if whole.is_file() else ()


def _why_no_weights(folder: Path) -> str:
    pickles = [path.name for pattern in _PICKLES for path in sorted(folder.glob(pattern))]
    if pickles:
        return (
            f"{folder} has its weights only as a pickle ({pickles[0]}), which can run code when it "
            "is read: convert it to model.safetensors, or use a model that has one"
        )
    return f"{folder} has no weights: looked for model.safetensors and model.safetensors.index.json"


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(read_regular(path))
    except OSError as fault:
        raise ModelError(f"cannot read {path}: {fault.strerror}") from fault
    except (ValueError, RecursionError) as fault:  # neither JSON nor UTF-8, or too deep
        raise ModelError(f"{path} is damaged ({fault}): download it again") from fault
    if not isinstance(content, dict):
        raise ModelError(f"{path} is damaged (not a JSON object): download it again")
    return content
