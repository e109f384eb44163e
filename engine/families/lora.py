"""LoRA matrices (arXiv 2106.09685), and the safetensors files that hold them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from intarsia.engine.arrays import Array, floats
from intarsia.engine.errors import ModelError
from intarsia.engine.model_store.mapped import map_tensors

SCALE = 2.0  # of B·A, in training too


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LowRank:
    """One pair of matrices: y += up · (down · x)."""

    down: Array  # (rank, in)
    up: Array  # (out, rank), scaled but in files

    @property
    def rank(self) -> int:
        rank: int = self.down.shape[0]
        return rank


def misfit(down: Array, up: Array, num_in: int, num_out: int) -> str | None:
    """Return what is wrong with the sizes of a pair, None if they are these."""
    rank = down.shape[0] if down.ndim else 0
    if (tuple(down.shape), tuple(up.shape)) == ((rank, num_in), (num_out, rank)):
        return None
    return f"is {tuple(up.shape)} by {tuple(down.shape)}, needed {num_in} in and {num_out} out"


def read_tensors(path: Path) -> dict[str, npt.NDArray[np.float32]]:
    """Read a tuning file. Raises ModelError where it is missing or damaged."""
    try:
        return {name: np.array(floats(read())) for name, read in map_tensors([path]).items()}
    except (OSError, ModelError, ValueError) as error:
        raise ModelError(
            f"the tuning {path.name} cannot be read ({error}): fetch or train it again"
        ) from error


def read_tuning(path: Path, sizes: Mapping[str, tuple[int, int]]) -> dict[str, LowRank]:
    """Return a tuning's pairs, not scaled, of matrices of these sizes (in, out), by their names.

    Raises ModelError for a file that has others.
    """
    tensors = read_tensors(path)
    if "masks" in tensors:
        raise ModelError(f"{path} is a drafter: give a tuning")
    needed = {f"{half}.{name}" for name in sizes for half in "AB"}
    if odd := sorted(needed ^ tensors.keys()):
        has = "lacks" if odd[0] in needed else "holds"
        raise ModelError(
            f"the tuning {path} is of another model: it {has} {odd[0]}; give one that was trained "
            "on this model"
        )
    pairs = {name: LowRank(down=tensors[f"A.{name}"], up=tensors[f"B.{name}"]) for name in sizes}
    for name, pair in pairs.items():
        if problem := misfit(pair.down, pair.up, *sizes[name]):
            raise ModelError(f"the tuning {path} is of another model: {name} {problem}")
    return pairs
