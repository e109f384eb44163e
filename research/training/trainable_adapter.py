"""The gated adapter as a trainable module; ``backbone/adapter.py`` reads the file it ends in."""

import torch
from torch import Tensor, nn

from intarsia.engine.families.masked_causal.backbone.adapter import GatedAdapter, SerialHead
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.training.tuning_task import LowRankPairs, random_matrix

HEAD_RANK = 256


class TrainableAdapter(nn.Module):
    """The low-rank pairs of all layers, the mask's embedding and the sampler head
    (arXiv 2507.11851). It starts as a zero change to the backbone."""

    def __init__(self, shape: BackboneShape, *, rank: int, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.pairs = LowRankPairs(shape, rank=rank, generator=generator)
        self.mask = nn.Parameter(torch.zeros(shape.hidden))
        self.head_down = random_matrix(HEAD_RANK, 2 * shape.hidden, generator)
        self.head_up = nn.Parameter(torch.zeros(shape.hidden, HEAD_RANK))

    def as_adapter(self, dtype: torch.dtype) -> GatedAdapter:
        """Return the engine's adapter in the backbone's number format; gradients flow back."""
        head = SerialHead(down=self.head_down.to(dtype), up=self.head_up.to(dtype))
        return GatedAdapter(layers=self.pairs.as_layers(dtype), mask=self.mask.to(dtype), head=head)

    def named_tensors(self) -> dict[str, Tensor]:
        """Return all tensors by their names in the file."""
        return {
            **self.pairs.named_tensors(),
            "mask": self.mask,
            "head.down": self.head_down,
            "head.up": self.head_up,
        }
