"""The interface between the training loop and what is trained, and what tuning tasks share."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from torch import Tensor, nn

from intarsia.training.adapter_file import load_tensors, save_tuning
from intarsia.training.packed_holes import HoleIds
from intarsia_research.training.low_rank_modules import LowRankModules
from intarsia.training.low_rank_pairs import LowRankPairs


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


class LowRankTask:
    """The file of a tuning that a task trains.

    ``strength``: the share that is written of what the run changes.
    """

    def __init__(self, module: LowRankPairs | LowRankModules, strength: float) -> None:
        self._changes = module
        self._strength = strength
        self._start: dict[str, Tensor] | None = None

    def start_from(self, path: Path) -> None:
        """Load a tuning's file. Raises ModelError."""
        tensors = self._changes.named_tensors()
        load_tensors(tensors, path)
        self._start = {name: tensor.detach().clone() for name, tensor in tensors.items()}

    def save(self, path: Path, *, metadata: dict[str, str]) -> None:
        """Write the tuning."""
        tensors = self._changes.named_tensors()
        save_tuning(tensors, path, metadata=metadata, strength=self._strength, start=self._start)
