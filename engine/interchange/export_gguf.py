"""Write a model as a GGUF file that llama.cpp loads.

The tokenizer and the metadata are those of the GGUF file that the model was converted from; the
weights are ours, with their tunings, in the number format that they are stored in. The drafter
has no form there.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from intarsia.engine.cache.progress import Progress
from intarsia.engine.errors import ModelError
from intarsia.engine.families.device import name_of
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape, read_shape
from intarsia.engine.interchange.export_hugging_face import (
    ExportedModel,
    hugging_face_tensors,
    read_tuned_weights,
    require_memory_for,
    stored_dtype,
)
from intarsia.engine.interchange.output import new_file, require_new, require_room
from intarsia.engine.model_store.catalog import find_model, split_tuning, without_tuning
from intarsia.engine.model_store.download import fetch
from intarsia.engine.model_store.gguf.tensors import open_gguf
from intarsia.engine.model_store.locate import ModelFolder

_FORMATS = {
    torch.bfloat16: (gguf.GGMLQuantizationType.BF16, gguf.LlamaFileType.MOSTLY_BF16),
    torch.float16: (gguf.GGMLQuantizationType.F16, gguf.LlamaFileType.MOSTLY_F16),
    torch.float32: (gguf.GGMLQuantizationType.F32, gguf.LlamaFileType.ALL_F32),
}
_ARCHITECTURES = {
    "qwen2": gguf.MODEL_ARCH.QWEN2,
    "qwen3": gguf.MODEL_ARCH.QWEN3,
    "llama": gguf.MODEL_ARCH.LLAMA,
}
_NOT_COPIED = (
    "GGUF.",  # the file's header, which the reader lists among the metadata
    "general.alignment",
    "general.architecture",
    "general.file_type",
    "general.name",
)


def source_of(model: str, on_progress: Progress) -> Path:
    """Return the GGUF file that a model is converted from. Raises ModelError if it has none."""
    name, _ = split_tuning(without_tuning(model))
    if row := find_model(name):
        return fetch(row, on_progress)
    if name.endswith(".gguf"):
        return Path(name).expanduser()
    raise ModelError(
        f"{name} was not converted from a GGUF file: run `intarsia export hf FOLDER --model {name}`"
        " and llama.cpp's convert_hf_to_gguf.py on FOLDER"
    )


def export_gguf(model: ModelFolder, source: Path, target: Path) -> ExportedModel:
    """Write the model with its tunings, the rest as ``source``. Raises ModelError, OutputError."""
    require_new(target)
    dtype, shape, reader = stored_dtype(model), read_shape(model.config), open_gguf(source)
    num_bytes = require_memory_for(model)
    tensors = dict(_llama_cpp_tensors(model, shape, dtype))
    with new_file(target) as partial:
        partial.touch()
        require_room(target.parent, num_bytes)
        writer = gguf.GGUFWriter(partial, str(model.config["model_type"]))
        writer.add_name(model.name)
        writer.add_file_type(_FORMATS[dtype][1])
        for key, field in reader.fields.items():
            if not key.startswith(_NOT_COPIED):
                inner = field.types[-1] if len(field.types) > 1 else None
                writer.add_key_value(key, field.contents(), field.types[0], sub_type=inner)
        for name, tensor in tensors.items():
            # llama.cpp adds and scales by vectors in float32 only.
            stored = tensor if tensor.dim() > 1 else tensor.float()
            raw: npt.NDArray[Any] = stored.contiguous().view(torch.uint8).numpy().view(np.uint8)
            writer.add_tensor(name, raw, raw_dtype=_FORMATS[stored.dtype][0])
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    return ExportedModel(
        num_tensors=len(tensors),
        dtype=name_of(dtype),
        num_bytes=target.stat().st_size,
    )


def _llama_cpp_tensors(
    model: ModelFolder, shape: BackboneShape, dtype: torch.dtype
) -> Iterator[tuple[str, Tensor]]:
    """Yield the weights by llama.cpp's names. A tied output matrix is left out, as there."""
    architecture = str(model.config["model_type"])
    if architecture not in _ARCHITECTURES:
        raise ModelError(
            f"a {architecture} model has no form as GGUF: export one of {', '.join(_ARCHITECTURES)}"
        )
    names = gguf.get_tensor_name_map(_ARCHITECTURES[architecture], shape.num_layers)
    weights = read_tuned_weights(model, shape, dtype)
    for name, tensor in hugging_face_tensors(weights, shape).items():
        renamed = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert renamed is not None, name
        yield renamed, _reordered(renamed, tensor, shape) if architecture == "llama" else tensor


def _reordered(name: str, tensor: Tensor, shape: BackboneShape) -> Tensor:
    """Return the rows of a Llama's q or k as llama.cpp has them: a head's two halves in turn."""
    heads = {"attn_q": shape.num_heads, "attn_k": shape.num_kv_heads}
    part = name.split(".")[-2]
    if part not in heads:
        return tensor
    halves = tensor.reshape(heads[part], 2, -1, *tensor.shape[1:])
    return halves.transpose(1, 2).reshape(tensor.shape)
