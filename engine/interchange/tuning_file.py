"""A tuning of ours as pairs by matrix: read from its safetensors file and written to one."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file

from intarsia.engine.errors import ModelError
from intarsia.engine.families.lora import read_tensors
from intarsia.engine.interchange.low_rank import Pair, exact_dtype
from intarsia.engine.interchange.output import new_file
from intarsia.engine.interchange.tunable_matrices import TunableMatrix

_CPU = torch.device("cpu")


def read_tuning(path: Path, matrices: Sequence[TunableMatrix]) -> dict[str, Pair]:
    """Return the pair of each matrix, by our name. Raises ModelError if the file does not fit."""
    tensors = read_tensors(path, dtype=torch.float32, device=_CPU)
    if "mask" in tensors:
        raise ModelError(
            f"{path} is an adapter that drafts, which other programs cannot run: give a tuning"
        )
    needed = {f"{half}.{matrix.name}" for matrix in matrices for half in "AB"}
    if odd := sorted(needed ^ tensors.keys()):
        has = "lacks" if odd[0] in needed else "holds"
        raise ModelError(f"{path} is no tuning of this model: it {has} {odd[0]}")
    return {
        matrix.name: _checked(
            Pair(down=tensors[f"A.{matrix.name}"], up=tensors[f"B.{matrix.name}"]), matrix, path
        )
        for matrix in matrices
    }


def write_tuning(pairs: Mapping[str, Pair], path: Path, *, metadata: Mapping[str, str]) -> None:
    """Write a tuning that the engine adds to the model's weights. Raises OutputError.

    The numbers are those of the pairs, exactly.
    """
    dtype = exact_dtype(list(pairs.values()))
    tensors = {}
    for name, pair in pairs.items():
        tensors[f"A.{name}"] = pair.down.to(dtype, copy=True).contiguous()
        tensors[f"B.{name}"] = pair.up.to(dtype, copy=True).contiguous()
    with new_file(path) as partial:
        save_file(tensors, partial, metadata={"kind": "tuning", **metadata})


def _checked(pair: Pair, matrix: TunableMatrix, path: Path) -> Pair:
    rank = pair.down.shape[0] if pair.down.dim() else 0
    if (pair.down.shape, pair.up.shape) != ((rank, matrix.num_in), (matrix.num_out, rank)):
        raise ModelError(
            f"{path} is no tuning of this model: {matrix.name} is {tuple(pair.up.shape)} by "
            f"{tuple(pair.down.shape)}, needed {matrix.num_in} in and {matrix.num_out} out"
        )
    return pair
