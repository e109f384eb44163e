"""PEFT's adapter_model.safetensors: the low-rank pair of each linear layer, by the layer's path."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from intarsia.engine.errors import ModelError
from intarsia.engine.families.lora import read_tensors
from intarsia.engine.interchange.peft_config import PeftConfig
from intarsia.engine.interchange.tuning_file import Pair, TunableMatrix, exact_dtype
from intarsia.engine.model_store.checkpoint import read_safetensors_header

TENSORS_NAME = "adapter_model.safetensors"

_PICKLE_NAME = "adapter_model.bin"
_BEFORE = "base_model.model."  # of each path: PEFT's wrapper, and the model in it
_DOWN, _UP = ".lora_A.weight", ".lora_B.weight"
_DTYPES = ("F32", "F16", "BF16")


def read_pairs(
    folder: Path, config: PeftConfig, matrices: Sequence[TunableMatrix]
) -> dict[str, Pair]:
    """Return the pairs by module path, not scaled.

    Raises ModelError unless each has a place in the model, the rank of the config and the sizes of
    its module, and unless all that the config lists are there.
    """
    path = _tensor_file(folder)
    entries = read_safetensors_header(path).tensors
    sizes = {
        module.path: (matrix.num_in, module.num_out)
        for matrix in matrices
        for module in matrix.modules
    }
    modules = _modules_of(entries, sizes, path)
    for module in modules:
        _require_fitting(entries, module, config.rank_of(module), sizes[module], path)
    _require_complete(modules, sizes, config, path)
    # Only now is it read: whatever is in the file, it is no larger than a LoRA of this model.
    tensors = read_tensors(path, dtype=torch.float32, device=torch.device("cpu"))
    return {module: _pair(tensors, module, path) for module in modules}


def write_pairs(pairs: Mapping[str, Pair], folder: Path) -> None:
    """Write the pairs into a folder; the numbers are kept exactly."""
    dtype = exact_dtype(list(pairs.values()))
    tensors = {}
    for module, pair in pairs.items():
        tensors[f"{_BEFORE}{module}{_DOWN}"] = pair.down.to(dtype, copy=True).contiguous()
        tensors[f"{_BEFORE}{module}{_UP}"] = pair.up.to(dtype, copy=True).contiguous()
    save_file(tensors, folder / TENSORS_NAME, metadata={"format": "pt"})


def _tensor_file(folder: Path) -> Path:
    path = folder / TENSORS_NAME
    if path.is_file():
        return path
    if (folder / _PICKLE_NAME).exists():
        raise ModelError(
            f"{folder} has its weights only as a pickle ({_PICKLE_NAME}), which can run code when "
            "it is read: save it with save_pretrained(…, safe_serialization=True)"
        )
    raise ModelError(f"{folder} has no {TENSORS_NAME}: save the LoRA again")


def _modules_of(
    names: Iterable[str], sizes: Mapping[str, tuple[int, int]], path: Path
) -> list[str]:
    """Return each module that has a tensor, once. Raises ModelError for any other tensor."""
    found: dict[str, None] = {}
    for name in names:
        inner = name.removeprefix(_BEFORE)
        module = inner.removesuffix(_DOWN).removesuffix(_UP)
        if inner == name or module == inner or module not in sizes:
            raise ModelError(
                f"{path} has {name}, which a tuning cannot change here: train a plain LoRA of "
                f"{', '.join(sorted({key.rpartition('.')[2] for key in sizes}))} only"
            )
        found[module] = None
    return list(found)


def _require_fitting(
    entries: Mapping[str, Mapping[str, Any]],
    module: str,
    rank: int,
    size: tuple[int, int],
    path: Path,
) -> None:
    """Raise ModelError unless both matrices have a known number format and their sizes."""
    num_in, num_out = size
    for half, needed in ((_DOWN, [rank, num_in]), (_UP, [num_out, rank])):
        name = f"{_BEFORE}{module}{half}"
        entry = entries.get(name)
        if entry is None:
            raise ModelError(f"{path} lacks {name}: save the LoRA again")
        if entry.get("shape") != needed:
            raise ModelError(
                f"{path} does not fit: {name} is {entry.get('shape')}, needed {needed} by the "
                "config's rank and the model: name the model that it is of"
            )
        if entry.get("dtype") not in _DTYPES:
            raise ModelError(
                f"{path} has {name} in the number format {entry.get('dtype')}: "
                f"save it in one of {', '.join(_DTYPES)}"
            )


def _pair(tensors: Mapping[str, Tensor], module: str, path: Path) -> Pair:
    down, up = (tensors[f"{_BEFORE}{module}{half}"] for half in (_DOWN, _UP))
    if not (down.isfinite().all() and up.isfinite().all()):
        raise ModelError(f"{path} has numbers in {module} that are not finite: train it again")
    return Pair(down=down, up=up)


def _require_complete(
    modules: Collection[str], sizes: Iterable[str], config: PeftConfig, path: Path
) -> None:
    if config.is_partial:
        return
    missing = [module for module in sizes if config.is_target(module) and module not in modules]
    if missing:
        raise ModelError(
            f"{path} lacks {missing[0]}, which its config lists in target_modules: "
            "save the LoRA again"
        )
