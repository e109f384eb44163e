"""The interface of a causal backbone: forward passes over rows of tokens. No text."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from intarsia.engine.arrays import Array
from intarsia.engine.families.masked_causal.backbone.drafter import Drafting
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.families.masked_causal.backbone.weights import Embeddings


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Rows:
    """The query rows of one forward pass, which follow a context of cached keys and values."""

    ids: npt.NDArray[np.int64]  # (rows,)
    positions: npt.NDArray[np.int64]  # (rows,)
    visible: npt.NDArray[np.bool_]  # (rows, context + rows): what each row attends to
    num_hidden: int | None = None  # how many of the last rows need hidden states; None: all

    @property
    def first_hidden(self) -> int:
        """The number of rows before those that need hidden states."""
        return 0 if self.num_hidden is None else len(self.ids) - self.num_hidden


class CausalBackbone(ABC):
    """A Llama-shaped model, and perhaps what drafts for it."""

    def __init__(self, shape: BackboneShape, embeddings: Embeddings) -> None:
        self.shape = shape
        self.embeddings = embeddings
        self.drafting: Drafting | None = None

    @property
    def num_draft_layers(self) -> int:
        """How many layers of the KV cache a drafter has."""
        return 0 if self.drafting is None else self.drafting.num_layers

    @property
    @abstractmethod
    def chunk_tokens(self) -> int:
        """How many context tokens one pass reads; a request can be cancelled between passes."""

    @property
    def row_cost(self) -> float:
        """How much longer one more row makes a pass, as a share of a pass over one row."""
        return 0.05

    def prepare(self) -> None:  # noqa: B027 - most kinds have nothing to do
        """Do the work that the first pass would otherwise wait for."""

    def synchronize(self) -> None:  # noqa: B027 - a processor has no queue
        """Wait until all passes have been computed."""

    @abstractmethod
    def new_cache(self) -> KvCache:
        """Return an empty context."""

    @abstractmethod
    def forward(self, rows: Rows, cache: KvCache) -> Array:
        """Run one pass; return hidden states (rows, hidden) of the rows where they are wanted.

        The rows' keys and values are written after the context, those of the drafter too;
        ``cache.commit`` keeps those of the first rows.
        """

    @abstractmethod
    def logits(self, hidden: Array) -> Array:
        """Return logits (rows, vocab) of hidden states (rows, hidden)."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LoadedBackbone:
    """A backbone, where it runs, the name of its number format, and notes for the status."""

    backbone: CausalBackbone
    device: str
    format_name: str
    notes: tuple[str, ...] = ()


SHORT_CHUNK = 32
"""Tokens of a chunk while other fills wait, or may come to wait, for its end.

In int8 such a chunk takes 50 ms, and the context a tenth longer than in chunks of 64.
"""
