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
    matrices = choose_matrices(wanted, shape, dtype=dtype, device=device)
    is_mapped = folder.is_fused and device.type == "cpu" and dtype == torch.bfloat16

    def needed() -> int:
        return _needed_bytes(folder, matrices, dtype, is_mapped)

    if matrices == "packed" and needed() > free_bytes(device):
        matrices = "plain"  # slower, but mapped from the file
    require_memory(needed(), device, folder.name)

    def read() -> BackboneWeights:
        return read_weights(
            folder.weights, shape, is_fused=folder.is_fused, dtype=dtype, device=device
        )

    weights = read()
    for tuning in folder.tunings:
        weights = tune(weights, shape, tuning)
    gate = None if adapter is None else read_adapter(adapter, shape, dtype=dtype, device=device)
    loaded = pass_weights(weights, gate, matrices)
    if is_mapped and matrices != "plain":
        # Mapped anew, only the rows that are looked up come into memory: what packing has read of
        # the first map goes with it. A tuning leaves both as they are.
        del weights
        again = read()
        loaded = replace(loaded, embed=again.embed, output_rows=again.output)
    return LoadedWeights(weights=loaded, dtype=dtype, matrices=matrices)


def _needed_bytes(
    folder: ModelFolder, matrices: MatrixFormat, dtype: torch.dtype, is_mapped: bool
) -> int:
    """Of memory besides mapped files: what is fused, converted, tuned or packed is copied."""
    size = sum(path.stat().st_size for path in folder.weights)  # of 16 bits a number
    size_here = 2 * size if dtype == torch.float32 else size
    is_read_whole = not is_mapped or bool(folder.tunings)
    packed = {"plain": 0, "packed": size_here, "int8": size // 2}[matrices]
    return (size_here if is_read_whole else 0) + packed
