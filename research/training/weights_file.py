"""Read trained tensors to go on from, and write a tuning at a share of its strength."""

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.drafter import SCALE_SUFFIX
from intarsia.training.tuning_task import save_tensors


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
