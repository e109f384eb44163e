"""The gated adapter: low-rank matrices that act on canvas rows only (gated LoRA, arXiv 2507.11851).

Known tokens never pass through it, so their keys and values are exactly the backbone's.
"""

from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from intarsia.engine.families.backbone_shape import BackboneShape
from intarsia.engine.filler import ModelError

_SCALE = 2.0  # of B·A, as it was trained


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LowRank:
    """One pair: y += up(down(x))."""

    down: Tensor  # (rank, in)
    up: Tensor  # (out, rank), scaled


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LayerAdapter:
    """The four pairs of one layer, fused as the backbone's own matrices are."""

    qkv: LowRank
    o: LowRank
    gate_up: LowRank
    down: LowRank


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class GatedAdapter:
    """Adapter of all layers, and what is added to the mask token's embedding."""

    layers: tuple[LayerAdapter, ...]
    mask: Tensor  # (hidden,)


def read_adapter(
    path: Path, shape: BackboneShape, *, dtype: torch.dtype, device: torch.device
) -> GatedAdapter:
    """Read a safetensors adapter. Raises ModelError where it is damaged or of another backbone."""
    try:
        tensors = {k: v.to(device, dtype) for k, v in load_file(path).items()}
    except (OSError, SafetensorError) as error:
        raise ModelError(
            f"the adapter {path.name} cannot be read ({error}): reinstall intarsia"
        ) from error
    heads = shape.hidden, (shape.num_heads + 2 * shape.num_kv_heads) * shape.head_dim
    sizes = {  # part → (in, out)
        "qkv": heads,
        "o": (shape.num_heads * shape.head_dim, shape.hidden),
        "gu": (shape.hidden, 2 * shape.intermediate),
        "d": (shape.intermediate, shape.hidden),
    }

    def pair(part: str, layer: int) -> LowRank:
        down, up = tensors[f"A.{part}{layer}"], tensors[f"B.{part}{layer}"]
        into, out = sizes[part]
        rank = down.shape[0] if down.dim() else 0
        if (down.shape, up.shape) != ((rank, into), (out, rank)):
            raise ModelError(
                f"the adapter {path.name} is of another backbone: {part} of layer {layer} is "
                f"{tuple(up.shape)} by {tuple(down.shape)}, needed {into} in and {out} out"
            )
        return LowRank(down=down, up=up * _SCALE)

    try:
        layers = tuple(
            LayerAdapter(
                qkv=pair("qkv", i), o=pair("o", i), gate_up=pair("gu", i), down=pair("d", i)
            )
            for i in range(shape.num_layers)
        )
        mask = tensors["mask"]
    except KeyError as error:
        raise ModelError(
            f"the adapter {path.name} lacks the tensor {error}: it is of another backbone"
        ) from error
    if mask.shape != (shape.hidden,):
        raise ModelError(
            f"the adapter {path.name} is of another backbone: its mask is {tuple(mask.shape)}, "
            f"needed ({shape.hidden},)"
        )
    return GatedAdapter(layers=layers, mask=mask)
