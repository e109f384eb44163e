"""Write a tuning as a LoRA folder that PEFT, vLLM and SGLang load, and read such a folder.

All written pairs get one rank and one scale, since vLLM reads no others: smaller ranks are filled
up with zeros. A tuning that was read changes the weights exactly as the LoRA does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from intarsia.engine.errors import ModelError
from intarsia.engine.families.lora import SCALE
from intarsia.engine.interchange.output import new_folder
from intarsia.engine.interchange.peft_config import CONFIG_NAME, peft_config, read_peft_config
from intarsia.engine.interchange.peft_tensors import read_pairs, write_pairs
from intarsia.engine.interchange.tuning_file import (
    Pair,
    read_tuning,
    scaled,
    split_rows,
    stack_rows,
    sum_of,
    tunable_matrices,
    widened,
    without_idle_ranks,
    write_tuning,
)
from intarsia.engine.model_store.locate import ModelFolder


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportedLora:
    """What was written: the LoRA's rank, and how many linear layers it changes."""

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
    read = [read_tuning(tuning, matrices) for tuning in tunings]
    pairs: dict[str, Pair] = {}
    for matrix in matrices:
        whole = sum_of([tuning[matrix.name] for tuning in read])
        parts = split_rows(whole, [module.num_out for module in matrix.modules])
        for module, part in zip(matrix.modules, parts, strict=True):
            pairs[module.path] = without_idle_ranks(part)
    rank = max(pair.rank for pair in pairs.values())
    if not rank:
        raise ModelError("the tuning changes nothing: there is nothing to export")
    num_changed = sum(pair.rank > 0 for pair in pairs.values())
    targets = _changed_kinds(pairs)
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
        write_pairs(pairs, folder)
        (folder / CONFIG_NAME).write_text(config, encoding="utf-8")
    return ExportedLora(rank=rank, num_modules=num_changed)


def _changed_kinds(pairs: Mapping[str, Pair]) -> list[str]:
    """Return the names of modules that are changed in any layer, such as ``q_proj``."""
    return list(dict.fromkeys(_kind(path) for path, pair in pairs.items() if pair.rank))


def _kind(path: str) -> str:
    return path.rpartition(".")[2]


def _gemma_targets(kinds: Sequence[str]) -> str:
    """Return the expression of the decoder's modules of these kinds.

    PEFT would otherwise tune the encoder's modules of the same names too, apart from the decoder's.
    """
    return rf"model\.decoder\.layers\.\d+\.(self_attn|mlp)\.({'|'.join(kinds)})"


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedLora:
    """What was imported: how many linear layers it changes, and what its config says it is for."""

    num_modules: int
    base_model: str | None


def import_peft(lora: Path, model: ModelFolder, target: Path) -> ImportedLora:
    """Write the LoRA of a folder as a tuning for this model.

    Raises ModelError for a LoRA that is not plain or does not fit, OutputError for the disk.
    """
    config, matrices = read_peft_config(lora), tunable_matrices(model)
    changes = {
        module: without_idle_ranks(scaled(pair, config.scale_of(module) / SCALE))
        for module, pair in read_pairs(lora, config, matrices).items()
    }
    num_modules = sum(pair.rank > 0 for pair in changes.values())
    if not num_modules:
        raise ModelError(f"{lora} changes nothing (its B matrices are zero): train it first")
    pairs = {
        matrix.name: stack_rows(
            [changes.get(module.path) for module in matrix.modules],
            [module.num_out for module in matrix.modules],
            matrix.num_in,
        )
        for matrix in matrices
    }
    write_tuning(pairs, target, metadata={"backbone": model.name, "source": "PEFT LoRA"})
    return ImportedLora(num_modules=num_modules, base_model=config.base_model)
