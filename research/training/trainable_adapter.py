"""The gated adapter while it is trained; its file is what ``families/gated_adapter.py`` reads."""

import torch
from torch import Tensor, nn

from intarsia.engine.families.masked_causal.backbone.adapter import GatedAdapter, SerialHead
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.research.training.low_rank_pairs import LowRankPairs, drawn

HEAD_RANK = 256


class TrainableAdapter(nn.Module):
    """The pairs of all layers, the mask's embedding, the serial head. It begins as nothing."""

    def __init__(self, shape: BackboneShape, *, rank: int, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.pairs = LowRankPairs(shape, rank=rank, generator=generator)
        self.mask = nn.Parameter(torch.zeros(shape.hidden))
        self.head_down = drawn(HEAD_RANK, 2 * shape.hidden, generator)
        self.head_up = nn.Parameter(torch.zeros(shape.hidden, HEAD_RANK))

    def in_use(self, dtype: torch.dtype) -> GatedAdapter:
        """Return it for one pass in the backbone's number format; gradients flow back."""
        head = SerialHead(down=self.head_down.to(dtype), up=self.head_up.to(dtype))
        return GatedAdapter(layers=self.pairs.in_use(dtype), mask=self.mask.to(dtype), head=head)

    def named(self) -> dict[str, Tensor]:
        """Return all numbers by their names in the file."""
        return {
            **self.pairs.named(),
            "mask": self.mask,
            "head.down": self.head_down,
            "head.up": self.head_up,
        }
