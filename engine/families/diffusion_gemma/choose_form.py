"""Choose the number format of DiffusionGemma's large matrices: by its files, and by the device."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from intarsia.engine.config import Quantize
from intarsia.engine.errors import ModelError, NoRoomError
from intarsia.engine.families.device import free_bytes, name_of
from intarsia.engine.families.diffusion_gemma.quantize import LowBit, has_float8
from intarsia.engine.model_store.checkpoint import read_safetensors_header

PICTURES = ("model.encoder.vision_tower.", "model.encoder.embed_vision.")
"""What the names of weights begin with that are for pictures, and are not read."""

SHARES: Mapping[LowBit, float] = {"fp8": 0.54, "int4": 0.31}
"""Bytes of the released model after it is quantised, of those in bfloat16. By calculation."""

_ROOM = 1.15  # for contexts and a pass, of the weights' bytes
_FLOATS = ("F16", "BF16", "F32", "F64")


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """``quantize`` None: the weights stay as they are stored. ``name`` is shown to the user."""

    quantize: LowBit | None
    name: str
    notes: tuple[str, ...] = ()


def choose_form(
    folder: Path,
    files: Sequence[Path],
    requested: Quantize,
    device: torch.device,
    dtype: torch.dtype,
) -> Form:
    """Return the form to run a checkpoint in. Raises ModelError, NoRoomError.

    "auto" takes the first of ``dtype``, float8 and four bits that fits into the device's memory.
    """
    free = free_bytes(device)
    if is_low_bit(files):
        if requested in ("fp8", "int4"):
            raise ModelError(f"{folder} is quantised already: omit `--quantize`")
        _require(num_bytes_of(files), free, folder, device)
        return Form(quantize=None, name="as quantised by its publisher")
    plain = sum(math.prod(entry["shape"]) * dtype.itemsize for _, entry in _entries(files))
    needed: dict[LowBit | None, float] = {None: plain}
    stored = num_bytes_of(files)
    needed.update((kind, share * stored) for kind, share in SHARES.items())
    if requested != "auto":
        kind = None if requested == "none" else requested
        _require(needed[kind], free, folder, device)
        return Form(quantize=kind, name=kind or "")
    kinds = [kind for kind in needed if kind != "fp8" or has_float8(device)]
    chosen = next((kind for kind in kinds if _ROOM * needed[kind] <= free), kinds[-1])
    _require(needed[chosen], free, folder, device)
    if chosen is None:
        return Form(quantize=None, name="")
    words = "float8" if chosen == "fp8" else "four bits"
    note = (
        f"{words}: {_gib(free)} GiB of {device} are free, {name_of(dtype)} needs "
        f"{_gib(_ROOM * plain)} (`quantize`)"
    )
    return Form(quantize=chosen, name=chosen, notes=(note,))


def is_low_bit(files: Sequence[Path]) -> bool:
    """Whether large matrices of a checkpoint are stored in eight bits or fewer."""
    return any(
        str(entry["dtype"]) not in _FLOATS and len(entry["shape"]) > 1
        for _, entry in _entries(files)
    )


def num_bytes_of(files: Sequence[Path]) -> int:
    """Return the bytes of all tensors that are read."""
    offsets = (entry["data_offsets"] for _, entry in _entries(files))
    return sum(end - begin for begin, end in offsets)


def _entries(files: Sequence[Path]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for file in files:
        for name, entry in read_safetensors_header(file).tensors.items():
            if not name.startswith(PICTURES):
                yield name, entry


def _require(needed: float, free: int, folder: Path, device: torch.device) -> None:
    if needed > free:
        raise NoRoomError(
            f"{folder.name} needs {_gib(needed)} GiB of memory, {_gib(free)} GiB of {device} are "
            "free: close something, or take a smaller model (`intarsia doctor` names them)"
        )


def _gib(num_bytes: float) -> str:
    return f"{num_bytes / 2**30:.1f}"
