"""Both ends of a backbone, as rows are looked up in them: weights and adapter come in."""

from dataclasses import dataclass

from torch import Tensor

from intarsia.engine.families.masked_causal.backbone.adapter import GatedAdapter, SerialHead
from intarsia.engine.families.masked_causal.backbone.weights import BackboneWeights


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Embeddings:
    """Only a few rows a pass are looked up: mapped, both take next to no memory."""

    embed: Tensor  # (vocab, hidden)
    output: Tensor  # (vocab, hidden)
    mask: Tensor | None  # (hidden,), added to a mask's embedding; None without an adapter
    head: SerialHead | None


def model_ends(weights: BackboneWeights, adapter: GatedAdapter | None) -> Embeddings:
    """Return them; nothing is copied but the mask."""
    return Embeddings(
        embed=weights.embed,
        output=weights.output,
        mask=adapter.mask.clone() if adapter else None,
        head=adapter.head if adapter else None,
    )
