"""A located folder of a causal backbone, and an adapter → weights as passes multiply by them."""

from dataclasses import dataclass, replace
from pathlib import Path

import torch

from intarsia.engine.config import Dtype
from intarsia.engine.families.backbone_shape import BackboneShape
from intarsia.engine.families.backbone_weights import BackboneWeights, read_weights
from intarsia.engine.families.device import choose_dtype, free_bytes, require_memory
from intarsia.engine.families.folder import ModelFolder
from intarsia.engine.families.gated_adapter import read_adapter
from intarsia.engine.families.matrix_choice import choose_matrices
from intarsia.engine.families.pass_weights import MatrixFormat, PassWeights, pass_weights
from intarsia.engine.families.tuning import tune

_RESERVED_BYTES = 2**30
"""Of free memory: a packed copy leaves so much to contexts, passes and the rest of the machine."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LoadedWeights:
    """``dtype`` is of rows, and of matrices but in int8."""

    weights: PassWeights
    dtype: torch.dtype
    matrices: MatrixFormat

    @property
    def format_name(self) -> str:
        """As the user is told."""
        if self.matrices == "int8":
            return "int8"
        plain = str(self.dtype).removeprefix("torch.")
        return f"{plain}, packed" if self.matrices == "packed" else plain


def load_weights(
    folder: ModelFolder,
    shape: BackboneShape,
    wanted: Dtype,
    device: torch.device,
    *,
    adapter: Path | None,
) -> LoadedWeights:
    """Read, tune, and bring into the format that is asked for, or the fastest here.

    Raises ModelError where something is missing, misshapen or too large.
    """
    dtype = choose_dtype(wanted, device)
    is_mapped = folder.is_fused and device.type == "cpu" and dtype == torch.bfloat16

    def needed_bytes(matrices: MatrixFormat) -> int:
        return _needed_bytes(folder, matrices, dtype, is_mapped)

    has_room = needed_bytes("packed") + _RESERVED_BYTES <= free_bytes(device)
    matrices = choose_matrices(wanted, shape, dtype=dtype, device=device, has_room=has_room)
    require_memory(needed_bytes(matrices), device, folder.name)

    def read() -> BackboneWeights:
        return read_weights(
            folder.weights, shape, is_fused=folder.is_fused, dtype=dtype, device=device
        )

    weights = read()
    for tuning in folder.tunings:
        weights = tune(weights, shape, tuning)
    gate = None if adapter is None else read_adapter(adapter, shape, dtype=dtype, device=device)
    loaded = pass_weights(weights, gate, matrices)
    if matrices != "plain":
        # What packing has read of the mapped file goes with its map. Mapped anew, only the rows
        # that are looked up come into memory; a tuning leaves both ends as they are.
        ends = read() if is_mapped else _copied_ends(weights)
        del weights
        loaded = replace(loaded, embed=ends.embed, output_rows=ends.output)
    return LoadedWeights(weights=loaded, dtype=dtype, matrices=matrices)


def _copied_ends(weights: BackboneWeights) -> BackboneWeights:
    """Another layout's may be views of its file, and would hold all of it."""
    embed = weights.embed.clone()
    is_tied = weights.output is weights.embed
    return replace(weights, embed=embed, output=embed if is_tied else weights.output.clone())


def _needed_bytes(
    folder: ModelFolder, matrices: MatrixFormat, dtype: torch.dtype, is_mapped: bool
) -> int:
    """Of memory besides mapped files: what is fused, converted, tuned or packed is copied."""
    size = sum(path.stat().st_size for path in folder.weights)  # of 16 bits a number
    size_here = 2 * size if dtype == torch.float32 else size
    is_read_whole = not is_mapped or bool(folder.tunings)
    packed = {"plain": 0, "packed": size_here, "int8": size // 2}[matrices]
    return (size_here if is_read_whole else 0) + packed
