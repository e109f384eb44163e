"""The gated adapter: LoRA matrices that act on canvas rows only, and their file.

It drafts (gated LoRA, arXiv 2507.11851). Its serial head corrects a row's prediction once the token
before is sampled, which the pass could not see. The known code before these rows does not pass
through it, so its keys and values are exactly the backbone's.
"""

from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.errors import ModelError
from intarsia.engine.families.lora import read_tensors
from intarsia.engine.families.masked_causal.backbone.lora_layers import (
    LowRankLayer,
    low_rank_layers,
)
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class SerialHead:
    """A small network over a canvas row and the token that was sampled at its own position.

    A masked row predicts the next token without knowing its own, so tokens that are sampled in
    parallel may not fit together. Sampled one by one through this head they do, at little cost
    (sampler head, arXiv 2507.11851).
    """

    down: Tensor  # (rank, 2 × hidden)
    up: Tensor  # (hidden, rank)

    def __call__(self, hidden: Tensor, own: Tensor) -> Tensor:
        """Return corrected hidden states (…, hidden), given the embeddings of their own tokens."""
        both = torch.cat([_unit_norm(hidden), _unit_norm(own)], dim=-1)
        return hidden + F.linear(F.silu(F.linear(both, self.down)), self.up)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class GatedAdapter:
    """The adapter of all layers, and what it adds to the mask token's embedding."""

    layers: tuple[LowRankLayer, ...]
    mask: Tensor  # (hidden,)
    head: SerialHead | None


def read_adapter(
    path: Path, shape: BackboneShape, *, dtype: torch.dtype, device: torch.device
) -> GatedAdapter:
    """Read a safetensors adapter. Raises ModelError if it is damaged or does not fit."""
    tensors = read_tensors(path, dtype=dtype, device=device)
    layers, mask = low_rank_layers(tensors, shape, path.name), tensors.get("mask")
    if mask is None:
        raise ModelError(
            f"the adapter {path.name} lacks the tensor 'mask': it is of another backbone"
        )
    if mask.shape != (shape.hidden,):
        raise ModelError(
            f"the adapter {path.name} is of another backbone: its mask is {tuple(mask.shape)}, "
            f"needed ({shape.hidden},)"
        )
    return GatedAdapter(layers=layers, mask=mask, head=_read_head(tensors, shape, path))


def _read_head(tensors: dict[str, Tensor], shape: BackboneShape, path: Path) -> SerialHead | None:
    """Return the serial head, None for adapters that were trained without one."""
    down, up = tensors.get("head.down"), tensors.get("head.up")
    if down is None or up is None:
        return None
    rank = down.shape[0] if down.dim() else 0
    if (down.shape, up.shape) != ((rank, 2 * shape.hidden), (shape.hidden, rank)):
        raise ModelError(
            f"the adapter {path.name} is of another backbone: its head is {tuple(up.shape)} by "
            f"{tuple(down.shape)}, needed {2 * shape.hidden} in and {shape.hidden} out"
        )
    return SerialHead(down=down, up=up)


def _unit_norm(x: Tensor) -> Tensor:
    return F.rms_norm(x, (x.shape[-1],))
