"""The gated adapter: low-rank matrices that act on canvas rows only (gated LoRA, arXiv 2507.11851).

Known tokens never pass through it, so their keys and values are exactly the backbone's. Its serial
head puts a row right once the token before is named, which the row itself could not see.
"""

from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.errors import ModelError
from intarsia.engine.families.lora import read_numbers
from intarsia.engine.families.masked_causal.backbone.lora_layers import (
    LowRankLayer,
    low_rank_layers,
)
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class SerialHead:
    """A small network over a canvas row and the token at its own position, named meanwhile.

    A masked row names the token behind its own without knowing its own: rows named together may not
    go together. Named one after the other through this head they do, at next to no cost
    (sampler head, arXiv 2507.11851).
    """

    down: Tensor  # (rank, 2 × hidden)
    up: Tensor  # (hidden, rank)

    def __call__(self, hidden: Tensor, own: Tensor) -> Tensor:
        """Put hidden states right (…, hidden), given the embeddings of their own tokens."""
        seen = torch.cat([_unit(hidden), _unit(own)], dim=-1)
        return hidden + F.linear(F.silu(F.linear(seen, self.down)), self.up)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class GatedAdapter:
    """Adapter of all layers, and what is added to the mask token's embedding."""

    layers: tuple[LowRankLayer, ...]
    mask: Tensor  # (hidden,)
    head: SerialHead | None


def read_adapter(
    path: Path, shape: BackboneShape, *, dtype: torch.dtype, device: torch.device
) -> GatedAdapter:
    """Read a safetensors adapter. Raises ModelError where it is damaged or of another backbone."""
    numbers = read_numbers(path, dtype=dtype, device=device)
    layers, mask = low_rank_layers(numbers, shape, path.name), numbers.get("mask")
    if mask is None:
        raise ModelError(
            f"the adapter {path.name} lacks the tensor 'mask': it is of another backbone"
        )
    if mask.shape != (shape.hidden,):
        raise ModelError(
            f"the adapter {path.name} is of another backbone: its mask is {tuple(mask.shape)}, "
            f"needed ({shape.hidden},)"
        )
    return GatedAdapter(layers=layers, mask=mask, head=_read_head(numbers, shape, path))


def _read_head(numbers: dict[str, Tensor], shape: BackboneShape, path: Path) -> SerialHead | None:
    """Return the head, None in adapters that were trained without one."""
    down, up = numbers.get("head.down"), numbers.get("head.up")
    if down is None or up is None:
        return None
    rank = down.shape[0] if down.dim() else 0
    if (down.shape, up.shape) != ((rank, 2 * shape.hidden), (shape.hidden, rank)):
        raise ModelError(
            f"the adapter {path.name} is of another backbone: its head is {tuple(up.shape)} by "
            f"{tuple(down.shape)}, needed {2 * shape.hidden} in and {shape.hidden} out"
        )
    return SerialHead(down=down, up=up)


def _unit(x: Tensor) -> Tensor:
    return F.rms_norm(x, (x.shape[-1],))
