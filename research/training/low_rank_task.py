"""What trains low-rank changes has in common: a tuning to start from, and the file it writes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor

from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.drafter import SCALE_SUFFIX
from intarsia_research.training.run_folder import write_tensors


class LowRank(Protocol):
    """Trainable pairs of matrices."""

    def named_tensors(self) -> dict[str, Tensor]:
        """Return all tensors by their names in the file."""


class LowRankTask:
    """The file of a tuning that a task trains.

    ``strength``: the share that is written of what the run changes.
    """

    def __init__(self, module: LowRank, strength: float) -> None:
        self._changes = module
        self._strength = strength
        self._start: dict[str, Tensor] | None = None

    def start_from(self, path: Path) -> None:
        """Load a tuning's file. Raises ModelError."""
        tensors = self._changes.named_tensors()
        load_tensors(tensors, path)
        self._start = {name: tensor.detach().clone() for name, tensor in tensors.items()}

    def save(self, path: Path, *, metadata: dict[str, str]) -> None:
        """Write the tuning."""
        tensors = self._changes.named_tensors()
        save_tuning(tensors, path, metadata=metadata, strength=self._strength, start=self._start)


def save_tuning(
    tensors: Mapping[str, Tensor],
    path: Path,
    *,
    metadata: Mapping[str, str],
    strength: float,
    start: Mapping[str, Tensor] | None = None,
) -> None:
    """Write low-rank pairs ``A.…``, ``B.…`` with the share ``strength`` of what was learnt.

    Below 1 the result keeps more of what training began with: of the tuning ``start``, else of the
    plain backbone (weight-space ensembles, arXiv 2109.01903). Between two tunings each matrix is
    interpolated, so the file keeps its rank.
    """
    if start is None:
        start = {name: tensor * 0 for name, tensor in tensors.items() if name.startswith("B.")}
    scaled = {
        name: torch.lerp(start[name], tensor, strength) if name in start else tensor
        for name, tensor in tensors.items()
    }
    save_tensors(scaled, path, metadata={**metadata, "strength": str(strength)})


def load_tensors(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Copy a file's tensors, perhaps in int8, into those given.

    Raises ModelError if the file is unreadable or belongs to another backbone or rank.
    """
    try:
        stored_tensors = load_file(path)
    except (OSError, SafetensorError) as error:
        raise ModelError(f"the weights {path} cannot be read ({error})") from error
    for name, tensor in tensors.items():
        stored, scale = stored_tensors.get(name), stored_tensors.get(name + SCALE_SUFFIX)
        if stored is None or stored.shape != tensor.shape:
            raise ModelError(
                f"the weights {path} are of another backbone or rank: {name} is "
                f"{'missing' if stored is None else tuple(stored.shape)}, "
                f"needed {tuple(tensor.shape)}"
            )
        with torch.no_grad():
            tensor.copy_(stored if scale is None else stored.float() * scale[:, None])


def stored_rank(path: Path) -> int:
    """Return the rank of a file's pairs. Raises ModelError if it has none."""
    try:
        with safe_open(path, framework="pt") as file:
            first = next(name for name in file.keys() if name.startswith("A."))  # noqa: SIM118
            rank: int = file.get_slice(first).get_shape()[0]
            return rank
    except (OSError, SafetensorError, StopIteration, IndexError) as error:
        raise ModelError(f"the weights {path} have no low-rank pairs: {error}") from error


def save_tensors(tensors: Mapping[str, Tensor], path: Path, *, metadata: Mapping[str, str]) -> None:
    """Write tensors in bfloat16: the whole file, or none. ``metadata`` goes into its header."""
    converted = {name: t.detach().to("cpu", torch.bfloat16) for name, t in tensors.items()}
    write_tensors(converted, path, dict(metadata))
