"""What a model family gives the denoising loop: a prefix taken in once, then passes over a canvas.

Token ids come in, logits go out. Knows nothing of text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from intarsia.engine.diffusion.canvas import TokenCanvas


def common_prefix_length(held: Sequence[int], wanted: Sequence[int]) -> int:
    """Return how many leading ids two rows share."""
    pairs = zip(held, wanted, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(held), len(wanted)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Prefilled:
    """How much of a context had to be computed."""

    num_reused: int  # tokens whose keys and values were already held
    num_computed: int


class Backbone(Protocol):
    """Loaded weights with the keys and values of one context."""

    vocab_size: int

    def prefill(self, context: Sequence[int], is_cancelled: Callable[[], bool] = ...) -> Prefilled:
        """Hold the keys and values of this context, reusing what earlier ones share with it.

        Raises Cancelled between two chunks of a long one.
        """
        ...

    def predict(self, canvas: TokenCanvas, self_conditioning: Tensor | None) -> Tensor:
        """Return logits (length, vocab) of a canvas that follows the context."""
        ...

    def cached_tokens(self) -> int:
        """Return how many context tokens are held now."""
        ...
