"""What every kind of causal backbone has: the rows of a pass, both ends of the model, and a cache.

Knows neither text nor how a proposal is settled.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.decoding.tokens import ScoredToken, score_tokens
from intarsia.engine.families.masked_causal.backbone.embeddings import Embeddings
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape

_NUM_CANDIDATES = 32


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Rows:
    """The query rows of one pass, behind a context of keys and values."""

    ids: Tensor  # (rows,) long; the mask id where a canvas row is masked
    positions: Tensor  # (rows,) long
    num_frozen: int  # the first rows are frozen, the others are the canvas
    visible: Tensor  # (rows, context + rows) bool: what each row attends to


class CausalBackbone(ABC):
    """A backbone of the Llama kind whose passes mix two kinds of rows.

    Token ids and positions come in, hidden states and logits go out. Frozen rows are the backbone
    just as it was trained; canvas rows pass through the gated adapter too and may look both ways.
    """

    def __init__(self, shape: BackboneShape, embeddings: Embeddings, *, mask_id: int) -> None:
        self.shape = shape
        self.mask_id = mask_id
        self.device = embeddings.embed.device
        self._embeddings = embeddings

    @property
    @abstractmethod
    def chunk_tokens(self) -> int:
        """Context tokens that a pass best reads: a cancel is honoured between two."""

    @property
    def has_adapter(self) -> bool:
        """Whether it can run canvas rows."""
        return self._embeddings.mask is not None

    @property
    def has_head(self) -> bool:
        """Whether it can name a proposal serially."""
        return self._embeddings.head is not None

    def prepare(self) -> None:  # noqa: B027 - most kinds have nothing to do
        """Do what the first pass would else have to wait for."""

    @abstractmethod
    def new_cache(self) -> KvCache:
        """Return an empty context."""

    @abstractmethod
    def forward(self, rows: Rows, cache: KvCache) -> Tensor:
        """Run one pass; return hidden states (rows, hidden).

        The rows' keys and values lie behind the context: ``cache.commit`` keeps the first rows'.
        """

    @abstractmethod
    def logits(self, hidden: Tensor) -> Tensor:
        """Return logits (rows, vocab) of hidden states (rows, hidden)."""

    def sample_serially(self, hidden: Tensor, logits: Tensor, named: int) -> list[ScoredToken]:
        """Return the tokens of a proposal's rows (rows, hidden), (rows, vocab), each put right by
        the adapter's head once the one before is named; ``named`` stands before the first.

        Only the likeliest few of each row are weighed again, so no second pass over the output
        matrix is made.
        """
        head = self._embeddings.head
        assert head is not None
        candidates = logits.topk(min(_NUM_CANDIDATES, logits.shape[-1])).indices
        tokens: list[ScoredToken] = []
        own = torch.tensor([named], device=self.device)
        for row, ids in zip(hidden.to(head.down.dtype), candidates, strict=True):
            put_right = head(row, self._embeddings.embed[own[0]])
            scores = F.linear(put_right, self._embeddings.output[ids])
            best = score_tokens(scores[None], [int(scores.argmax())])[0]
            own = ids[best.id : best.id + 1]
            tokens.append(replace(best, id=int(own)))
        return tokens

    def _embed(self, rows: Rows) -> Tensor:
        x = F.embedding(rows.ids, self._embeddings.embed)
        if self._embeddings.mask is None:
            return x
        is_mask = rows.ids == self.mask_id
        is_mask[: rows.num_frozen] = False
        return torch.where(is_mask[:, None], x + self._embeddings.mask, x)
