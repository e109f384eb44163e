"""Choose the number format of DiffusionGemma's large matrices: by its files, and by the device.

The reasons for both are notes of the status. ``intarsia doctor`` runs this file for the released
weights, by their published size.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from intarsia.engine.config import Quantize
from intarsia.engine.errors import ModelError, NoRoomError
from intarsia.engine.families.device import choose_device, choose_dtype, free_bytes, name_of
from intarsia.engine.families.diffusion_gemma.quantize import LowBit, has_float8
from intarsia.engine.model_store.checkpoint import read_safetensors_header

PICTURES = ("model.encoder.vision_tower.", "model.encoder.embed_vision.")
"""Prefixes of the names of weights for pictures, which are not read."""

SHARES: Mapping[LowBit, float] = {"fp8": 0.54, "int4": 0.31}
"""Bytes of the released model after it is quantised, of those in bfloat16. By calculation."""

RELEASED_BYTES = 51.6e9
"""Bytes of the released weights that are read, in bfloat16."""

_ROOM = 1.15  # for contexts and a pass, of the weights' bytes
_FLOATS = ("F16", "BF16", "F32", "F64")


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """``quantize`` None: the weights stay as they are stored. ``name`` and the notes, which say
    why, are shown to the user."""

    quantize: LowBit | None
    name: str
    notes: tuple[str, ...]


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
    stored = num_bytes_of(files)
    if is_low_bit(files):
        if requested in ("fp8", "int4"):
            raise ModelError(f"{folder} is quantised already: omit `--quantize`")
        _require(stored, free_bytes(device), folder.name, device)
        notes = _device_note(device), "format: as its publisher quantised it"
        return Form(quantize=None, name="as quantised by its publisher", notes=notes)
    num_weights = sum(math.prod(entry["shape"]) for _, entry in _entries(files))
    return _form_of(folder.name, stored, num_weights, requested, device, dtype)


def about_released() -> str:
    """Return where and in which form the released weights would run here by default, and why."""
    try:
        return f"DiffusionGemma would run here: {'; '.join(form_of_released().notes)}"
    except NoRoomError as error:
        return str(error)


def form_of_released() -> Form:
    """Return the form of the released weights by default, here and now. Raises NoRoomError."""
    device = choose_device("auto")
    dtype = choose_dtype("auto", device)
    num_weights = int(RELEASED_BYTES / torch.bfloat16.itemsize)
    return _form_of("DiffusionGemma", RELEASED_BYTES, num_weights, "auto", device, dtype)


def _form_of(
    name: str,
    stored: float,
    num_weights: int,
    requested: Quantize,
    device: torch.device,
    dtype: torch.dtype,
) -> Form:
    free, plain = free_bytes(device), float(num_weights * dtype.itemsize)
    needed: dict[LowBit | None, float] = {None: plain}
    needed.update((kind, share * stored) for kind, share in SHARES.items())
    if requested == "auto":
        kinds = [kind for kind in needed if kind != "fp8" or has_float8(device)]
        chosen = next((kind for kind in kinds if _ROOM * needed[kind] <= free), kinds[-1])
        why = f"{_gib(free)} GiB are free, {name_of(dtype)} needs {_gib(_ROOM * plain)}"
    else:
        chosen = None if requested == "none" else requested
        why = f"`quantize` is {requested}"
    _require(needed[chosen], free, name, device)
    words = {None: name_of(dtype), "fp8": "float8", "int4": "four bits"}[chosen]
    notes = _device_note(device), f"format: {words}, as {why}"
    return Form(quantize=chosen, name=chosen or "", notes=notes)


_WHY_FIRST = {
    "cuda": "an NVIDIA card goes first",
    "mps": "there is an Apple GPU, and no NVIDIA card",
    "cpu": "no NVIDIA card or Apple GPU is usable",
}


def _device_note(device: torch.device) -> str:
    is_first = device.type == choose_device("auto").type
    why = _WHY_FIRST[device.type] if is_first else f"`device` is {device.type}"
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
    return f"device: {name}, as {why}"


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


def _require(needed: float, free: int, name: str, device: torch.device) -> None:
    if needed > free:
        raise NoRoomError(
            f"{name} needs {_gib(needed)} GiB of memory, {_gib(free)} GiB of {device} are "
            "free: close something, or take a smaller model (`intarsia doctor` names them)"
        )


def _gib(num_bytes: float) -> str:
    return f"{num_bytes / 2**30:.1f}"
