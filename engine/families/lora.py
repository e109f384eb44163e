"""Low-rank matrices for every part of every layer of a backbone (LoRA, arXiv 2106.09685).

A safetensors file's tensors come in, checked pairs go out. Knows nothing of which rows they act on.
"""

from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from intarsia.engine.errors import ModelError

SCALE = 2.0  # of B·A, as it is trained


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LowRank:
    """One pair: y += up(down(x))."""

    down: Tensor  # (rank, in)
    up: Tensor  # (out, rank), scaled


def read_numbers(path: Path, *, dtype: torch.dtype, device: torch.device) -> dict[str, Tensor]:
    """Read a file. Raises ModelError where it is damaged."""
    try:
        return {name: number.to(device, dtype) for name, number in load_file(path).items()}
    except (OSError, SafetensorError) as error:
        raise ModelError(
            f"the adapter {path.name} cannot be read ({error}): fetch or train it again"
        ) from error
