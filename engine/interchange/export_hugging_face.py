"""Write a model as a Hugging Face folder that transformers, vLLM and MLX load.

Tunings are added to the weights. The drafter has no form there.
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from intarsia.engine.errors import ModelError
from intarsia.engine.families.device import name_of
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import read_fim_tokenizer
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape, read_shape
from intarsia.engine.families.masked_causal.backbone.torch_backbone import read_torch_weights
from intarsia.engine.families.masked_causal.backbone.tuning import tune
from intarsia.engine.families.masked_causal.backbone.weights import (
    NORMS,
    BackboneWeights,
    LayerWeights,
)
from intarsia.engine.families.memory import free_memory, require_memory
from intarsia.engine.interchange.output import new_folder, require_new, require_room
from intarsia.engine.model_store.checkpoint import is_run_by_transformers, read_safetensors_header
from intarsia.engine.model_store.locate import ModelFolder

# What the source may have beside config and weights; nothing else of it is copied.
_COMPANIONS = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "chat_template.jinja",
    "generation_config.json",
    "processor_config.json",
    "LICENSE",
)
_DTYPES = {"BF16": torch.bfloat16, "F16": torch.float16, "F32": torch.float32}
_CPU = torch.device("cpu")


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportedModel:
    """An export's summary: the number of tensors, their format, and the bytes of the weights."""

    num_tensors: int
    dtype: str
    num_bytes: int


def export_hugging_face(model: ModelFolder, target: Path) -> ExportedModel:
    """Write the model with its tunings, as stored. Raises ModelError, OutputError."""
    require_new(target)
    if model.family == "masked_causal" and is_run_by_transformers(model.config):
        raise ModelError(f"{model.name} is already in Hugging Face's form: use {model.path}")
    dtype = stored_dtype(model)
    num_bytes = require_memory_for(model)
    with new_folder(target) as folder:
        require_room(target.parent, num_bytes)
        if model.family == "diffusion_gemma":
            num_tensors = _write_gemma(model, folder, dtype)
        else:
            num_tensors = _write_causal(model, folder, dtype)
        for name in _COMPANIONS:
            if (model.path / name).is_file():
                shutil.copyfile(model.path / name, folder / name)
    files = target.glob("*.safetensors")
    return ExportedModel(
        num_tensors=num_tensors,
        dtype=name_of(dtype),
        num_bytes=sum(path.stat().st_size for path in files),
    )


def _write_causal(model: ModelFolder, folder: Path, dtype: torch.dtype) -> int:
    shape = read_shape(model.config)
    weights = read_tuned_weights(model, shape, dtype)
    tensors = hugging_face_tensors(weights, shape)
    config = {
        **_config_of(model.config, weights),
        "tie_word_embeddings": weights.output is weights.embed,
        "dtype": name_of(dtype),
    }
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    _write_json(folder / "config.json", config)
    _write_tokenizer_settings(model, shape, folder)
    return len(tensors)


def require_memory_for(model: ModelFolder) -> int:
    """Return the bytes of the stored weights. Raises ModelError if they do not fit in memory."""
    stored = sum(path.stat().st_size for path in model.weights)
    if not (model.is_fused and not model.tunings):  # else the file is mapped, not copied
        require_memory(stored, free_memory(), model.name)
    return stored


def read_tuned_weights(
    model: ModelFolder, shape: BackboneShape, dtype: torch.dtype
) -> BackboneWeights:
    """Return a causal model's weights with its tunings. Raises ModelError."""
    weights = read_torch_weights(
        model.weights, shape, is_fused=model.is_fused, dtype=dtype, device=_CPU
    )
    for tuning in model.tunings:
        weights = tune(weights, shape, tuning)
    return weights


def hugging_face_tensors(weights: BackboneWeights, shape: BackboneShape) -> dict[str, Tensor]:
    """Return the weights by Hugging Face's names, as views of the joined matrices."""
    tensors = {"model.embed_tokens.weight": weights.embed, "model.norm.weight": weights.norm}
    if weights.output is not weights.embed:
        tensors["lm_head.weight"] = weights.output
    for number, layer in enumerate(weights.layers):
        parts = _layer_tensors(layer, shape)
        tensors |= {f"model.layers.{number}.{name}": part for name, part in parts.items()}
    return {name: tensor.contiguous() for name, tensor in tensors.items()}


def _layer_tensors(layer: LayerWeights, shape: BackboneShape) -> dict[str, Tensor]:
    found = {f"{module}.weight": getattr(layer, norm) for norm, module in NORMS.items()}
    for part, matrix in shape.matrices().items():
        for kind, name in (("weight", part), ("bias", f"{part}_bias")):
            if (joined := getattr(layer, name, None)) is not None:
                rows = torch.split(joined, list(matrix.modules.values()))
                found |= {f"{it}.{kind}": own for it, own in zip(matrix.modules, rows, strict=True)}
    return {name: tensor for name, tensor in found.items() if tensor is not None}


def _config_of(config: Mapping[str, Any], weights: BackboneWeights) -> Mapping[str, Any]:
    """Return the config of a folder. Raises ModelError for biases that its type does not have."""
    has_biases = any(layer.qkv_bias is not None for layer in weights.layers)
    if has_biases and config["model_type"] != "qwen2" and not config.get("attention_bias"):
        raise ModelError(
            f"a {config['model_type']} model with biases has no form as a Hugging Face folder"
        )
    return {name: value for name, value in config.items() if name != "torch_dtype"}


def _write_tokenizer_settings(model: ModelFolder, shape: BackboneShape, folder: Path) -> None:
    """Write what a converted model lacks: other programs ask these files where a text ends."""
    tokenizer = read_fim_tokenizer(model.path)
    end = tokenizer.mark_ids().end
    configured = model.config.get("eos_token_id")
    others = configured if isinstance(configured, list) else [configured]
    ends = [end, *(token for token in others if token not in (None, end))]
    _write_json(folder / "generation_config.json", {"eos_token_id": ends, "pad_token_id": end})
    end_token = tokenizer.marks.end
    _write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": shape.max_positions,
            "clean_up_tokenization_spaces": False,
            "eos_token": end_token,
            "pad_token": end_token,
        },
    )


def _write_gemma(model: ModelFolder, folder: Path, dtype: torch.dtype) -> int:
    """Write each file again, with the tunings in the matrices that they change."""
    # transformers takes seconds to import: only where it is used
    from intarsia.engine.families.diffusion_gemma.load import load_gemma, tunable_layers

    tuned: dict[str, Tensor] = {}
    if model.tunings:
        loaded = load_gemma(model.path, device=_CPU, dtype=dtype, tunings=model.tunings)
        layers = tunable_layers(loaded.model)
        tuned = {
            f"model.{name}.weight": linear.weight.data for name, (linear, *_) in layers.items()
        }
    num_tensors = 0
    for file in model.weights:
        tensors = {name: tuned.get(name, tensor) for name, tensor in load_file(file).items()}
        converted = {name: tensor.to(dtype).contiguous() for name, tensor in tensors.items()}
        save_file(converted, folder / file.name, metadata={"format": "pt"})
        num_tensors += len(tensors)
    for name in ("config.json", "model.safetensors.index.json"):
        if (model.path / name).is_file():
            shutil.copyfile(model.path / name, folder / name)
    return num_tensors


def stored_dtype(model: ModelFolder) -> torch.dtype:
    """Return the widest number format among the weights. Raises ModelError for an unknown one."""
    stored = {
        str(entry["dtype"])
        for path in model.weights
        for entry in read_safetensors_header(path).tensors.values()
    }
    if unknown := sorted(stored - _DTYPES.keys()):
        raise ModelError(
            f"{model.path} has weights in {unknown[0]}: only {', '.join(_DTYPES)} are exported"
        )
    return _DTYPES[stored.pop()] if len(stored) == 1 else torch.float32


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
