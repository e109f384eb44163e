"""A located folder of a causal backbone, and an adapter → a backbone whose passes are run as this
machine runs them best."""

from dataclasses import dataclass, replace
from pathlib import Path

import torch

from intarsia.engine.config import Dtype
from intarsia.engine.families.device import choose_dtype, free_bytes, require_memory
from intarsia.engine.families.masked_causal.backbone.adapter import GatedAdapter, read_adapter
from intarsia.engine.families.masked_causal.backbone.choose_format import Format, choose_format
from intarsia.engine.families.masked_causal.backbone.embeddings import Embeddings, model_ends
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.families.masked_causal.backbone.torch_backbone import TorchBackbone
from intarsia.engine.families.masked_causal.backbone.torch_weights import pass_weights
from intarsia.engine.families.masked_causal.backbone.tuning import tune
from intarsia.engine.families.masked_causal.backbone.weights import BackboneWeights, read_weights
from intarsia.engine.model_store.locate import ModelFolder

_RESERVED_BYTES = 2**30
"""Of free memory: a packed copy leaves so much to contexts, passes and the rest of the machine."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LoadedBackbone:
    """``format_name``: of its numbers, as the user is told."""

    backbone: CausalBackbone
    format_name: str


def load_backbone(
    folder: ModelFolder,
    shape: BackboneShape,
    wanted: Dtype,
    device: torch.device,
    *,
    adapter: Path | None,
    mask_id: int,
) -> LoadedBackbone:
    """Read, tune, and bring into the format that is asked for, or the fastest here.

    Raises ModelError where something is missing, misshapen or too large.
    """
    dtype = choose_dtype(wanted, device)
    gate = None if adapter is None else read_adapter(adapter, shape, dtype=dtype, device=device)

    def has_room(of: Format) -> bool:
        return _needed_bytes(folder, of, dtype, device) + _RESERVED_BYTES <= free_bytes(device)

    chosen = choose_format(wanted, shape, gate, dtype=dtype, device=device, has_room=has_room)
    require_memory(_needed_bytes(folder, chosen, dtype, device), device, folder.name)
    if chosen == "int8" and dtype != torch.bfloat16:  # read as they lie: no row is computed in it
        dtype = torch.bfloat16
        gate = None if adapter is None else read_adapter(adapter, shape, dtype=dtype, device=device)
    is_mapped = _is_mapped(folder, dtype, device)

    def read() -> BackboneWeights:
        return read_weights(
            folder.weights, shape, is_fused=folder.is_fused, dtype=dtype, device=device
        )

    weights = read()
    for tuning in folder.tunings:
        weights = tune(weights, shape, tuning)

    def ends() -> Embeddings:
        # What was read of the mapped file goes with its map. Mapped anew, only the rows that are
        # looked up come into memory; a tuning leaves both ends as they are.
        return model_ends(read() if is_mapped else _copied_ends(weights), gate)

    if chosen == "int8":
        return LoadedBackbone(
            backbone=_byte_backbone(shape, weights, gate, ends(), mask_id), format_name="int8"
        )
    loaded = pass_weights(weights, gate, chosen)
    if chosen == "packed":
        loaded = replace(loaded, ends=ends())
    plain = str(dtype).removeprefix("torch.")
    return LoadedBackbone(
        backbone=TorchBackbone(shape, loaded, mask_id=mask_id),
        format_name=f"{plain}, packed" if chosen == "packed" else plain,
    )


def _byte_backbone(
    shape: BackboneShape,
    weights: BackboneWeights,
    gate: GatedAdapter | None,
    ends: Embeddings,
    mask_id: int,
) -> CausalBackbone:
    # numba takes half a second to import: only where it is used
    from intarsia.engine.families.masked_causal.backbone.int8_backbone import ByteBackbone
    from intarsia.engine.families.masked_causal.backbone.int8_weights import byte_weights

    loaded = replace(byte_weights(weights, gate), ends=ends)
    return ByteBackbone(shape, loaded, mask_id=mask_id, num_threads=torch.get_num_threads())


def _copied_ends(weights: BackboneWeights) -> BackboneWeights:
    """Another layout's may be views of its file, and would hold all of it."""
    embed = weights.embed.clone()
    is_tied = weights.output is weights.embed
    return replace(weights, embed=embed, output=embed if is_tied else weights.output.clone())


def _is_mapped(folder: ModelFolder, dtype: torch.dtype, device: torch.device) -> bool:
    return folder.is_fused and device.type == "cpu" and dtype == torch.bfloat16


def _needed_bytes(
    folder: ModelFolder, chosen: Format, dtype: torch.dtype, device: torch.device
) -> int:
    """Of memory besides mapped files: what is fused, converted, tuned or packed is copied."""
    size = sum(path.stat().st_size for path in folder.weights)  # of 16 bits a number
    dtype = torch.bfloat16 if chosen == "int8" else dtype
    size_here = 2 * size if dtype == torch.float32 else size
    is_read_whole = not _is_mapped(folder, dtype, device) or bool(folder.tunings)
    copied = {"plain": 0, "packed": size_here, "int8": size // 2}[chosen]
    return (size_here if is_read_whole else 0) + copied
