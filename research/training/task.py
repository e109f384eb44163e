"""What is trained, as the loop sees it: a module, its loss on some holes, its figures on others."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from torch import Tensor, nn

from intarsia.research.training.packed_holes import HoleIds


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PassLoss:
    """One pass over some holes. ``num_tokens``: places that something was learnt at."""

    loss: Tensor  # ()
    num_tokens: int


class TrainingTask(Protocol):
    """One kind of weights and how they are learnt."""

    @property
    def module(self) -> nn.Module: ...

    def learn(self, holes: Sequence[HoleIds], chosen: random.Random) -> PassLoss:
        """Return the loss with its gradients; all chance comes from ``chosen``."""
        ...

    def judge(
        self, batches: Sequence[Sequence[HoleIds]], chosen: random.Random
    ) -> dict[str, float]:
        """Return figures on holes that are not trained on."""
        ...

    def save(self, path: Path, *, about: dict[str, str]) -> None:
        """Write the weights as the engine reads them."""
        ...
