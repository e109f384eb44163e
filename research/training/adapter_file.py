"""Numbers by name ↔ a safetensors file in bfloat16."""

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from intarsia.engine.errors import ModelError


def save_numbers(numbers: Mapping[str, Tensor], path: Path, *, about: Mapping[str, str]) -> None:
    """Write a file whole, or not at all. ``about`` goes into its header."""
    tensors = {name: it.detach().to("cpu", torch.bfloat16) for name, it in numbers.items()}
    partial = path.with_name(f"{path.name}.partial")
    save_file({n: it.contiguous() for n, it in tensors.items()}, partial, metadata=dict(about))
    partial.replace(path)


def save_tuning(
    numbers: Mapping[str, Tensor], path: Path, *, about: Mapping[str, str], strength: float
) -> None:
    """Write so great a share of what low-rank pairs ``A.…``, ``B.…`` change. Less than all of it
    keeps more of what the backbone knew (weight-space ensembles, arXiv 2109.01903)."""
    weaker = {
        name: number * strength if name.startswith("B.") else number
        for name, number in numbers.items()
    }
    save_numbers(weaker, path, about={**about, "strength": str(strength)})


def load_numbers(
    numbers: Mapping[str, Tensor], path: Path, *, may_lack: tuple[str, ...] = ()
) -> None:
    """Put a file's numbers in place; those whose names begin as in ``may_lack`` may stay as they
    are. Raises ModelError."""
    try:
        tensors = load_file(path)
    except (OSError, SafetensorError) as error:
        raise ModelError(f"the adapter {path} cannot be read ({error})") from error
    for name, number in numbers.items():
        found = tensors.get(name)
        if found is None and name.startswith(may_lack):
            continue
        if found is None or found.shape != number.shape:
            raise ModelError(
                f"the adapter {path} is of another backbone or rank: {name} is "
                f"{'missing' if found is None else tuple(found.shape)}, "
                f"needed {tuple(number.shape)}"
            )
        with torch.no_grad():
            number.copy_(found)
