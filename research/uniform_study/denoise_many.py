"""The engine's denoising loop (``engine/diffusion/denoise.py``) over many canvases in one pass.

Each canvas draws from a generator of its own, in the engine's order, so it ends as it does alone.
A canvas that is done takes no part in later passes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Generator, Tensor

from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.diffusion.policies import LinearTemperature
from intarsia_research.uniform_study.arms import Arm


class PredictMany(Protocol):
    """One forward pass over canvases."""

    def __call__(self, which: Tensor, ids: Tensor, predicted: Tensor | None) -> Tensor:
        """Return logits (canvases, length, vocab) float32, which the caller may change.

        ``which`` (canvases,): their indexes among all. ``ids`` (canvases, length): padded.
        ``predicted`` (canvases, length, hidden): mean embeddings of the step before.
        """


class MeanEmbedding(Protocol):
    """What a distribution over tokens becomes as the next step's conditioning."""

    def __call__(self, probabilities: Tensor) -> Tensor:
        """(…, vocab) → (…, hidden)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DenoisedIds:
    """A canvas at its end: ids, confidences and entropies of every position."""

    ids: list[int]
    confidences: list[float]
    entropies: list[float]
    num_forwards: int


@torch.inference_mode()
def denoise_many(
    predict: PredictMany,
    mean_embedding: MeanEmbedding,
    canvases: Sequence[TokenCanvas],
    generators: Sequence[Generator],
    arm: Arm,
    *,
    vocab_size: int,
    end_id: int,
) -> list[DenoisedIds]:
    """Denoise all canvases as ``arm`` says."""
    device = canvases[0].ids.device
    lengths = [len(canvas) for canvas in canvases]
    shape = (len(canvases), max(lengths))
    ids = torch.zeros(shape, dtype=torch.long, device=device)
    is_free = torch.zeros(shape, dtype=torch.bool, device=device)
    for n, canvas in enumerate(canvases):
        ids[n, : lengths[n]], is_free[n, : lengths[n]] = canvas.ids, canvas.is_free
    which = torch.arange(len(canvases), device=device)
    done: dict[int, DenoisedIds] = {}
    predicted: Tensor | None = None
    earlier: Tensor | None = None
    for step in range(1, arm.max_steps + 1):
        logits = predict(which, ids, predicted if arm.is_conditioned else None)
        logits /= _temperature(arm, step)
        own = logits.gather(-1, ids[..., None])
        logits.masked_fill_(~is_free[..., None], -torch.inf)
        logits.scatter_(-1, ids[..., None], torch.where(is_free[..., None], own, 0.0))
        probabilities = logits.softmax(-1)
        likeliest = logits.argmax(-1)
        del logits
        entropies = torch.special.entr(probabilities).sum(-1)
        numbers = which.tolist()
        sampled, noise = likeliest.clone(), ids.clone()
        for row, number in enumerate(numbers):
            length, generator = lengths[number], generators[number]
            if not arm.is_greedy:
                drawn = torch.multinomial(probabilities[row, :length], 1, generator=generator)
                sampled[row, :length] = drawn[:, 0]
            noise[row, :length] = torch.randint(
                vocab_size, (length,), generator=generator, device=device
            )
        draft = torch.where(is_free, likeliest, ids)
        confidences = probabilities.gather(-1, draft[..., None])[..., 0]
        is_accepted = within_bound(entropies, is_free, arm.entropy_bound)
        ids = torch.where(is_free, torch.where(is_accepted, sampled, noise), ids)
        is_done = torch.full_like(which, step == arm.max_steps, dtype=torch.bool)
        if earlier is not None:
            is_done |= _is_done(arm, draft, earlier, entropies, is_free, end_id)
        for row in is_done.nonzero()[:, 0].tolist():
            length = lengths[numbers[row]]
            done[numbers[row]] = DenoisedIds(
                ids=draft[row, :length].tolist(),
                confidences=confidences[row, :length].tolist(),
                entropies=entropies[row, :length].tolist(),
                num_forwards=step,
            )
        left = (~is_done).nonzero()[:, 0]
        if not len(left):
            break
        predicted = mean_embedding(probabilities[left])
        del probabilities
        which, ids, is_free, earlier = which[left], ids[left], is_free[left], draft[left]
    return [done[n] for n in range(len(canvases))]


def _temperature(arm: Arm, step: int) -> float:
    """Return the temperature of a step, counted from 1."""
    if arm.is_greedy:
        return 1.0
    return LinearTemperature(t_min=arm.t_min, t_max=arm.t_max, num_steps=arm.max_steps)(step)


def within_bound(entropies: Tensor, is_free: Tensor, bound: float) -> Tensor:
    """Accept free positions in order of entropy while the sum before each is within the bound.

    ``engine/diffusion/acceptance.py`` does so for one canvas.
    """
    ordered, order = entropies.masked_fill(~is_free, torch.inf).sort(dim=-1)
    is_within = ordered.cumsum(-1) - ordered <= bound  # inf - inf is NaN, which is not within
    return torch.zeros_like(is_free).scatter_(-1, order, is_within) & is_free


def _is_done(
    arm: Arm, draft: Tensor, earlier: Tensor, entropies: Tensor, is_free: Tensor, end_id: int
) -> Tensor:
    """Return which canvases are stable and certain, in the model's way or the arm's."""
    if arm.stop_entropy is None:
        mean = (entropies * is_free).sum(-1) / is_free.sum(-1)
        return (draft == earlier).all(-1) & (mean < 0.005)
    # what comes after the end is not text
    is_end = (draft == end_id) & is_free
    counted = is_free & ((is_end.cumsum(-1) - is_end.long()) == 0)
    is_same = ((draft == earlier) | ~counted).all(-1)
    return is_same & ((entropies * counted).sum(-1) < arm.stop_entropy)
