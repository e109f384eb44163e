"""Write a tuning as a LoRA folder that PEFT, vLLM and SGLang load, and read such a folder.

All written pairs get one rank and one scale, since vLLM reads no others: smaller ranks are filled
up with zeros. A tuning that was read changes the weights exactly as the LoRA does.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from intarsia.engine.errors import ModelError
from intarsia.engine.families.lora import SCALE, LowRank, read_tensors, read_tuning
from intarsia.engine.families.masked_causal.backbone.shape import JoinedMatrix
from intarsia.engine.interchange.output import new_folder
from intarsia.engine.interchange.peft_config import (
    CONFIG_NAME,
    PeftConfig,
    peft_config,
    read_peft_config,
)
from intarsia.engine.interchange.tuning_file import (
    exact_tensors,
    in_torch,
    scaled,
    stack_rows,
    sum_of,
    tunable_matrices,
    widened,
    without_idle_ranks,
    write_tuning,
)
from intarsia.engine.model_store.checkpoint import read_safetensors_header
from intarsia.engine.model_store.locate import ModelFolder


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportedLora:
    """An export's summary: the LoRA's rank, and how many linear layers it changes."""

    rank: int
    num_modules: int


def export_peft(
    model: ModelFolder, tunings: Sequence[Path], target: Path, *, base_model: str
) -> ExportedLora:
    """Write the sum of the tunings as one LoRA for this model's shape; the ranks add up.

    ``base_model`` is what the config names. Raises ModelError for a tuning that does not fit,
    OutputError for the disk.
    """
    matrices = tunable_matrices(model)
    sizes = {name: (matrix.num_in, matrix.num_out) for name, matrix in matrices.items()}
    read = [read_tuning(tuning, sizes) for tuning in tunings]
    pairs: dict[str, LowRank] = {}
    for name, matrix in matrices.items():
        whole = sum_of([in_torch(tuning[name]) for tuning in read])
        rows = torch.split(whole.up, list(matrix.modules.values()))
        for module, up in zip(matrix.modules, rows, strict=True):
            pairs[module] = without_idle_ranks(LowRank(down=whole.down, up=up))
    rank = max(pair.rank for pair in pairs.values())
    if not rank:
        raise ModelError("the tuning changes nothing: there is nothing to export")
    num_changed = sum(pair.rank > 0 for pair in pairs.values())
    # Modules that are changed in any layer, such as ``q_proj``.
    targets = list(dict.fromkeys(_kind(path) for path, pair in pairs.items() if pair.rank))
    pairs = {path: widened(pair, rank) for path, pair in pairs.items() if _kind(path) in targets}
    is_gemma = model.family == "diffusion_gemma"
    config = peft_config(
        rank=rank,
        scale=SCALE,
        targets=_gemma_targets(targets) if is_gemma else targets,
        base=base_model,
        is_causal=not is_gemma,
    )
    with new_folder(target) as folder:
        tensors = exact_tensors(pairs, f"{_BEFORE}{{}}{_DOWN}", f"{_BEFORE}{{}}{_UP}")
        save_file(tensors, folder / TENSORS_NAME, metadata={"format": "pt"})
        (folder / CONFIG_NAME).write_text(config, encoding="utf-8")
    return ExportedLora(rank=rank, num_modules=num_changed)


def _kind(path: str) -> str:
    return path.rpartition(".")[2]


def _gemma_targets(kinds: Sequence[str]) -> str:
    """Return the expression of the decoder's modules of these kinds.

    PEFT would otherwise tune the encoder's modules of the same names too, apart from the decoder's.
    """
    return rf"model\.decoder\.layers\.\d+\.(self_attn|mlp)\.({'|'.join(kinds)})"


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedLora:
    """An import's summary: how many linear layers it changes, and its config's stated purpose."""

    num_modules: int
    base_model: str | None


def import_peft(lora: Path, model: ModelFolder, target: Path) -> ImportedLora:
    """Write a folder's LoRA as a tuning. Raises ModelError for another or odd one, OutputError."""
    config, matrices = read_peft_config(lora), tunable_matrices(model)
    changes = {
        module: without_idle_ranks(scaled(pair, config.scale_of(module) / SCALE))
        for module, pair in read_pairs(lora, config, matrices).items()
    }
    for module, pair in changes.items():
        _require_computable(pair, f"{lora} changes {module}")
    num_modules = sum(pair.rank > 0 for pair in changes.values())
    if not num_modules:
        raise ModelError(f"{lora} changes nothing (its B matrices are zero): train it first")
    pairs = {name: stack_rows(changes, matrix) for name, matrix in matrices.items()}
    write_tuning(pairs, target, metadata={"backbone": model.name, "source": "PEFT LoRA"})
    return ImportedLora(num_modules=num_modules, base_model=config.base_model)


TENSORS_NAME = "adapter_model.safetensors"

_PICKLE_NAME = "adapter_model.bin"
_BEFORE = "base_model.model."  # of each path: PEFT's wrapper, and the model in it
_DOWN, _UP = ".lora_A.weight", ".lora_B.weight"
_DTYPES = ("F32", "F16", "BF16")


def read_pairs(
    folder: Path, config: PeftConfig, matrices: Mapping[str, JoinedMatrix]
) -> dict[str, LowRank]:
    """Return the pairs by module path, not scaled.

    Raises ModelError unless each has a place in the model, the rank of the config and the sizes of
    its module, and unless all that the config lists are there.
    """
    path = _tensor_file(folder)
    entries = read_safetensors_header(path).tensors
    sizes = {
        module: (matrix.num_in, num_out)
        for matrix in matrices.values()
        for module, num_out in matrix.modules.items()
    }
    modules = _modules_of(entries, sizes, path)
    for module in modules:
        _require_fitting(entries, module, config.rank_of(module), sizes[module], path)
    _require_complete(modules, sizes, config, path)
    # Only now is it read: whatever is in the file, it is no larger than a LoRA of this model.
    tensors = {name: torch.from_numpy(read) for name, read in read_tensors(path).items()}
    return {module: _pair(tensors, module, path) for module in modules}


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


def _pair(tensors: Mapping[str, Tensor], module: str, path: Path) -> LowRank:
    down, up = (tensors[f"{_BEFORE}{module}{half}"] for half in (_DOWN, _UP))
    if not (down.isfinite().all() and up.isfinite().all()):
        raise ModelError(f"{path} has numbers in {module} that are not finite: train it again")
    return LowRank(down=down, up=up)


def _require_computable(pair: LowRank, what: str) -> None:
    """Raise ModelError for a change that may be no number in the model's own format."""
    largest = [tensor.abs().amax().double() for tensor in (pair.down, pair.up) if pair.rank]
    if math.prod(largest) * SCALE * pair.rank > torch.finfo(torch.bfloat16).max:
        raise ModelError(f"{what} by numbers that are too large to compute with: train it again")


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
