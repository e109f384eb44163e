"""The denoising loop: predict, sample, accept, renoise, draft, stop.

The model is the function ``predict``; everything else is a part of the policy that can be
replaced on its own. Knows no text.

    canvas xt ──predict──▶ logits ──temperature, sample──▶ prediction x0 ──accept──▶ is_accepted
        ▲                    │ self-conditioning of the next step               │
        └────────────────────┴───────────────── renew ◀─────────────────────────┘
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import torch
from torch import Tensor

from intarsia.engine.diffusion.acceptance import Accept, Stop
from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.diffusion.prediction import Draft, Sample, draft_likeliest, read_logits
from intarsia.engine.diffusion.renewal import Renew
from intarsia.engine.fill_control import NO_CONTROL, FillControl

OnStep: TypeAlias = Callable[[int, TokenCanvas, Draft], None]
"""(step, counted from 1; canvas after it; draft of the whole answer) → None."""


class Predict(Protocol):
    """One forward pass of a model."""

    def __call__(self, canvas: TokenCanvas, self_conditioning: Tensor | None) -> Tensor:
        """Return logits (length, vocab); ``self_conditioning`` has those of the last step."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DenoisingPolicy:
    """The parts of the loop; ``policies.py`` has DiffusionGemma's."""

    max_steps: int
    temperature: Callable[[int], float]
    sample: Sample
    accept: Accept
    renew: Renew
    stop: Stop

    def __post_init__(self) -> None:
        if self.max_steps < 1:
            raise ValueError(f"max_steps must be at least 1, got {self.max_steps}")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Denoised:
    """A denoised canvas, given text included."""

    ids: Tensor  # (length,) long
    confidences: Tensor  # (length,)
    entropies: Tensor  # (length,) nats
    num_forwards: int
    finish_reason: Literal["done", "max_steps", "deadline"]


def ignore_step(step: int, canvas: TokenCanvas, draft: Draft) -> None:
    """Report nothing."""


@torch.inference_mode()
def denoise(
    predict: Predict,
    canvas: TokenCanvas,
    policy: DenoisingPolicy,
    *,
    generator: torch.Generator,
    control: FillControl = NO_CONTROL,
    on_step: OnStep = ignore_step,
) -> Denoised:
    """Denoise one canvas: one step or more, up to the deadline. Raises Cancelled between steps."""
    drafts: list[Draft] = []
    self_conditioning: Tensor | None = None
    for step in range(1, policy.max_steps + 1):
        control.checkpoint()
        prediction = read_logits(
            predict(canvas, self_conditioning),
            canvas,
            temperature=policy.temperature(step),
            sample=policy.sample,
            generator=generator,
        )
        self_conditioning = prediction.logits
        canvas = policy.renew(canvas, prediction, policy.accept(canvas, prediction), generator)
        drafts.append(draft_likeliest(canvas, prediction))
        on_step(step, canvas, drafts[-1])
        if policy.stop(canvas, drafts):
            return _denoised(drafts, "done")
        if control.is_late:
            return _denoised(drafts, "deadline")
    return _denoised(drafts, "max_steps")


def _denoised(
    drafts: list[Draft], finish_reason: Literal["done", "max_steps", "deadline"]
) -> Denoised:
    last = drafts[-1]
    return Denoised(
        ids=last.ids,
        confidences=last.confidences,
        entropies=last.entropies,
        num_forwards=len(drafts),
        finish_reason=finish_reason,
    )
