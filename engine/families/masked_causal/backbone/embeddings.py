"""The embeddings of a backbone: input and output, from which a pass looks up a few rows."""

from dataclasses import dataclass

from torch import Tensor

from intarsia.engine.families.masked_causal.backbone.adapter import GatedAdapter, SerialHead
from intarsia.engine.families.masked_causal.backbone.weights import BackboneWeights


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Embeddings:
    """Both matrices, and what the adapter adds to them.

    Where they are mapped from a file they take little memory: only rows that are used are read.
    """

    embed: Tensor  # (vocab, hidden)
    output: Tensor  # (vocab, hidden)
    mask: Tensor | None  # (hidden,), added to a mask's embedding; None without an adapter
    head: SerialHead | None


def embeddings_of(weights: BackboneWeights, adapter: GatedAdapter | None) -> Embeddings:
    """Return the embeddings without copying them; the adapter's mask is copied."""
    return Embeddings(
        embed=weights.embed,
        output=weights.output,
        mask=adapter.mask.clone() if adapter else None,
        head=adapter.head if adapter else None,
    )
