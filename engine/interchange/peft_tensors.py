"""PEFT's adapter_model.safetensors: the low-rank pair of each linear layer, by the layer's path."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from intarsia.engine.errors import ModelError
from intarsia.engine.families.lora import read_tensors
from intarsia.engine.interchange.low_rank import Pair, exact_dtype
from intarsia.engine.interchange.peft_config import PeftConfig
from intarsia.engine.interchange.tunable_matrices import TunableMatrix
from intarsia.engine.model_store.safetensors_header import read_safetensors_header

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
    _require_plain_numbers(path)
    tensors = read_tensors(path, dtype=torch.float32, device=torch.device("cpu"))
    sizes = {
        module.path: (matrix.num_in, module.num_out)
        for matrix in matrices
        for module in matrix.modules
    }
    pairs = {
        module: _pair(tensors, module, config.rank_of(module), sizes[module], path)
        for module in _modules_of(tensors, sizes, path)
    }
    _require_complete(pairs, sizes, config, path)
    return pairs


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


def _require_plain_numbers(path: Path) -> None:
    for name, entry in read_safetensors_header(path).tensors.items():
        if entry.get("dtype") not in _DTYPES:
            raise ModelError(
                f"{path} has {name} in the number format {entry.get('dtype')}: "
                f"save it in one of {', '.join(_DTYPES)}"
            )


def _modules_of(
    names: Iterable[str], sizes: Mapping[str, tuple[int, int]], path: Path
) -> Iterator[str]:
    """Yield each module that has a tensor, once. Raises ModelError for any other tensor."""
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
    yield from found


def _pair(
    tensors: Mapping[str, Tensor], module: str, rank: int, size: tuple[int, int], path: Path
) -> Pair:
    try:
        down, up = (tensors[f"{_BEFORE}{module}{half}"] for half in (_DOWN, _UP))
    except KeyError as fault:
        raise ModelError(f"{path} lacks {fault}: save the LoRA again") from fault
    num_in, num_out = size
    if (down.shape, up.shape) != ((rank, num_in), (num_out, rank)):
        raise ModelError(
            f"{path} does not fit: {module} is {tuple(up.shape)} by {tuple(down.shape)}, needed "
            f"{num_in} in, {num_out} out and the config's rank {rank}: name the model that it is of"
        )
    if not (down.isfinite().all() and up.isfinite().all()):
        raise ModelError(f"{path} has numbers in {module} that are not finite: train it again")
    return Pair(down=down, up=up)


def _require_complete(
    pairs: Mapping[str, Pair], sizes: Iterable[str], config: PeftConfig, path: Path
) -> None:
    if config.is_partial:
        return
    missing = [module for module in sizes if config.is_target(module) and module not in pairs]
    if missing:
        raise ModelError(
            f"{path} lacks {missing[0]}, which its config lists in target_modules: "
            "save the LoRA again"
        )
