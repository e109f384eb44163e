"""A model of rules for the denoising loop: it wants these tokens, so and so surely. No weights."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from intarsia.engine.diffusion.canvas import TokenCanvas

VOCAB_SIZE = 32


@dataclass
class RulePredict:
    """``wanted`` at each position with logit ``sureness``, 0 elsewhere; both may see the canvas.

    It remembers every canvas and every self-conditioning that it was shown.
    """

    wanted: Callable[[TokenCanvas], Sequence[int]]
    sureness: Callable[[TokenCanvas], Sequence[float]]
    canvases: list[TokenCanvas] = field(default_factory=list)
    self_conditionings: list[Tensor | None] = field(default_factory=list)

    def __call__(self, canvas: TokenCanvas, self_conditioning: Tensor | None) -> Tensor:
        self.canvases.append(canvas)
        self.self_conditionings.append(self_conditioning)
        logits = torch.zeros(len(canvas), VOCAB_SIZE)
        logits[torch.arange(len(canvas)), list(self.wanted(canvas))] = torch.tensor(
            list(self.sureness(canvas)), dtype=torch.float32
        )
        return logits


def wants(ids: Sequence[int], sureness: float | Sequence[float] = 20.0) -> RulePredict:
    """Return a model that wants the same tokens, equally surely, whatever it sees."""
    sure = [sureness] * len(ids) if isinstance(sureness, int | float) else list(sureness)
    return RulePredict(wanted=lambda canvas: ids, sureness=lambda canvas: sure)
