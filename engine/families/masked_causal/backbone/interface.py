"""The interface of a causal backbone: forward passes over frozen rows and canvas rows. No text."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.decoding.tokens import ScoredToken, score_tokens
from intarsia.engine.families.masked_causal.backbone.adapter import Embeddings
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape

_NUM_CANDIDATES = 32


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Rows:
    """The query rows of one forward pass, which follow a context of cached keys and values."""

    ids: Tensor  # (rows,) long; the mask id where a canvas row is masked
    positions: Tensor  # (rows,) long
    num_frozen: int  # the first rows are frozen; the others pass through the adapter
    visible: Tensor  # (rows, context + rows) bool: what each row attends to
    num_hidden: int | None = None  # how many of the last rows need hidden states; None: all

    @property
    def first_hidden(self) -> int:
        """The number of rows before those that need hidden states."""
        return 0 if self.num_hidden is None else len(self.ids) - self.num_hidden


class CausalBackbone(ABC):
    """A Llama-shaped model; one forward pass may hold two kinds of rows.

    Frozen rows are computed by the backbone as it was trained. Canvas rows pass through the gated
    adapter too, and may attend in both directions.
    """

    def __init__(self, shape: BackboneShape, embeddings: Embeddings, *, mask_id: int) -> None:
        self.shape = shape
        self.mask_id = mask_id
        self.device = embeddings.embed.device
        self._embeddings = embeddings

    @property
    @abstractmethod
    def chunk_tokens(self) -> int:
        """How many context tokens one pass reads; a request can be cancelled between passes."""

    @property
    def has_adapter(self) -> bool:
        """Whether it can run canvas rows."""
        return self._embeddings.mask is not None

    @property
    def has_head(self) -> bool:
        """Whether it can sample a proposal token by token."""
        return self._embeddings.head is not None

    def prepare(self) -> None:  # noqa: B027 - most kinds have nothing to do
        """Do the work that the first pass would otherwise wait for."""

    @abstractmethod
    def new_cache(self) -> KvCache:
        """Return an empty context."""

    @abstractmethod
    def forward(self, rows: Rows, cache: KvCache) -> Tensor:
        """Run one pass; return hidden states (rows, hidden) of the rows where they are wanted.

        The rows' keys and values are written after the context; ``cache.commit`` keeps those of
        the first rows.
        """

    @abstractmethod
    def logits(self, hidden: Tensor) -> Tensor:
        """Return logits (rows, vocab) of hidden states (rows, hidden)."""

    def sample_serially(self, hidden: Tensor, logits: Tensor, previous: int) -> list[ScoredToken]:
        """Return the tokens of a proposal's rows, each corrected by the serial head given the token
        before; ``previous`` is the token before the first.

        hidden (rows, hidden), logits (rows, vocab). Only each row's likeliest tokens are scored
        again, which saves a second product with the output matrix.
        """
        head = self._embeddings.head
        assert head is not None
        candidates = logits.topk(min(_NUM_CANDIDATES, logits.shape[-1])).indices
        tokens: list[ScoredToken] = []
        own = torch.tensor([previous], device=self.device)
        for row, ids in zip(hidden.to(head.down.dtype), candidates, strict=True):
            corrected = head(row, self._embeddings.embed[own[0]])
            scores = F.linear(corrected, self._embeddings.output[ids])
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


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LoadedBackbone:
    """A backbone, the name of its number format, and what the status says of that."""

    backbone: CausalBackbone
    format_name: str
    notes: tuple[str, ...] = ()


SHORT_CHUNK = 32
"""Tokens of a chunk while other fills wait, or may come to wait, for its end.

In int8 such a chunk takes 50 ms, and the context a tenth longer than in chunks of 64.
"""
