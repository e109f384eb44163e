"""LoRA matrices (arXiv 2106.09685), and the safetensors files that hold them."""

from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from intarsia.engine.errors import ModelError

SCALE = 2.0  # of B·A, in training too


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LowRank:
    """One pair of matrices: y += up · (down · x)."""

    down: Tensor  # (rank, in)
    up: Tensor  # (out, rank), scaled


def misfit(down: Tensor, up: Tensor, num_in: int, num_out: int) -> str | None:
    """Return what is wrong with the sizes of a pair, None if they are these."""
    rank = down.shape[0] if down.dim() else 0
    if (down.shape, up.shape) == ((rank, num_in), (num_out, rank)):
        return None
    return f"is {tuple(up.shape)} by {tuple(down.shape)}, needed {num_in} in and {num_out} out"


def read_tensors(path: Path, *, dtype: torch.dtype, device: torch.device) -> dict[str, Tensor]:
    """Read an adapter or tuning file. Raises ModelError where it is missing or damaged."""
    try:
        return {name: tensor.to(device, dtype) for name, tensor in load_file(path).items()}
    except (OSError, SafetensorError) as error:
        raise ModelError(
            f"the adapter {path.name} cannot be read ({error}): fetch or train it again"
        ) from error
