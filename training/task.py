"""The interface between the training loop and what is trained."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from torch import Tensor, nn

from intarsia.training.packed_holes import HoleIds


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PassLoss:
    """The loss of one forward pass. ``num_tokens``: positions that it counts for the budget."""

    loss: Tensor  # ()
    num_tokens: int


class TrainingTask(Protocol):
    """One kind of weights and its objective."""

    @property
    def module(self) -> nn.Module: ...

    def compute_loss(self, holes: Sequence[HoleIds], rng: random.Random) -> PassLoss:
        """Return the loss with its graph; everything random is drawn from ``rng``."""
        ...

    def evaluate(
        self, batches: Sequence[Sequence[HoleIds]], rng: random.Random
    ) -> dict[str, float]:
        """Return figures on held-out holes by name; ``loss`` is always one."""
        ...

    def save(self, path: Path, *, metadata: dict[str, str]) -> None:
        """Write the weights in the engine's format."""
        ...
