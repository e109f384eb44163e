"""The part of a vocabulary that the training text uses: the others' logits are not made."""

import torch
from torch import Tensor

from intarsia.research.training.batched_backbone import BatchedBackbone


class UsedVocabulary:
    """``ids`` (used,): the tokens that can be named, in order; ``output`` (used, hidden): their
    rows of the output matrix."""

    def __init__(self, backbone: BatchedBackbone, ids: Tensor) -> None:
        self.ids = torch.unique(ids).to(backbone.device)
        self.output = backbone.weights.output[self.ids]
        size = backbone.shape.vocab_size
        self._places = torch.full((size,), -1, dtype=torch.long, device=backbone.device)
        self._places[self.ids] = torch.arange(len(self.ids), device=backbone.device)

    def places(self, tokens: Tensor) -> Tensor:
        """Return where tokens stand among the used ones."""
        return self._places[tokens]
