"""The part of a vocabulary that training needs logits for: the tokens its texts use."""

import torch
from torch import Tensor

from intarsia.training.batched_backbone import BatchedBackbone


class UsedVocabulary:
    """``ids`` (used,): the tokens that can be predicted, in order; ``output`` (used, hidden): their
    rows of the output matrix."""

    def __init__(self, backbone: BatchedBackbone, ids: Tensor) -> None:
        self.ids = torch.unique(ids).to(backbone.device)
        self.output = backbone.weights.output[self.ids]
        size = backbone.shape.vocab_size
        self._indexes = torch.full((size,), -1, dtype=torch.long, device=backbone.device)
        self._indexes[self.ids] = torch.arange(len(self.ids), device=backbone.device)

    def indexes_of(self, tokens: Tensor) -> Tensor:
        """Return the indexes of tokens in ``ids``; -1 for a token that is not in it."""
        return self._indexes[tokens]
