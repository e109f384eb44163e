"""What the model families share: the backbone protocol, and small values about a fill.

Works on token ids and logits. Knows no text.
"""

import itertools
import operator
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import Timing

if TYPE_CHECKING:  # a remote engine shares this module, and loads no torch
    from torch import Tensor

    from intarsia.engine.diffusion.canvas import TokenCanvas

_PIECE_IDS = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class Prefilled:
    """How much of a context had to be computed."""

    num_reused: int  # tokens that were in a KV cache already
    num_computed: int


class Backbone(Protocol):
    """Loaded weights with the keys and values of one context."""

    vocab_size: int

    def prefill(self, context: Sequence[int], control: FillControl = ...) -> Prefilled:
        """Hold the keys and values of this context; reuse what earlier ones share with it.

        Raises Cancelled between two chunks of a long one.
        """
        ...

    def predict(self, canvas: "TokenCanvas", self_conditioning: "Tensor | None") -> "Tensor":
        """Return logits (length, vocab) of a canvas that follows the context."""
        ...

    def cached_tokens(self) -> int:
        """Return the number of context tokens that are held."""
        ...


def common_prefix_length(first: Sequence[int], second: Sequence[int]) -> int:
    """Return how many leading ids two rows share."""
    # Prompts of some thousand ids are compared at each key: in pieces, as equal ones take no time.
    length = min(len(first), len(second))
    for start in range(0, length, _PIECE_IDS):
        end = min(start + _PIECE_IDS, length)
        one, other = first[start:end], second[start:end]
        if one == other:
            continue
        differences = itertools.compress(itertools.count(start), map(operator.ne, one, other))
        if (different := next(differences, end)) < end:  # else a list and a tuple of the same
            return different
    return length


def fill_timing(received_at: float, started_at: float, prefilled_at: float) -> Timing:
    """Return the timing of a fill that ends now (times of time.monotonic())."""
    ended_at = time.monotonic()
    return Timing(
        queue=1000 * (started_at - received_at),
        prefill=1000 * (prefilled_at - started_at),
        denoise=1000 * (ended_at - prefilled_at),
        total=1000 * (ended_at - received_at),
    )
