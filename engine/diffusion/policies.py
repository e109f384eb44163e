"""Two ready sets of parts for the denoising loop: one for each kind of discrete diffusion."""

from intarsia.engine.diffusion.acceptance import (
    AcceptAmongFree,
    AcceptAmongMasked,
    AcceptFromLeft,
)
from intarsia.engine.diffusion.denoise import DenoisingPolicy
from intarsia.engine.diffusion.draft import draft_likeliest, draft_settled
from intarsia.engine.diffusion.hole_end import FindEnd, no_end
from intarsia.engine.diffusion.prediction import draw, take_likeliest
from intarsia.engine.diffusion.renewal import Remask, Renoise
from intarsia.engine.diffusion.schedule import ConstantTemperature, LinearTemperature
from intarsia.engine.diffusion.stopping import AllSettled, StableAndConfident


def uniform_state_policy(
    *,
    vocab_size: int,
    max_steps: int = 48,
    entropy_bound: float = 0.1,
    t_min: float = 0.4,
    t_max: float = 0.8,
    stability_threshold: int = 1,
    confidence_threshold: float = 0.005,
) -> DenoisingPolicy:
    """Return DiffusionGemma's own way; the defaults are its generation config's."""
    return DenoisingPolicy(
        max_steps=max_steps,
        temperature=LinearTemperature(t_min=t_min, t_max=t_max, num_steps=max_steps),
        sample=draw,
        accept=AcceptAmongFree(entropy_bound=entropy_bound),
        renew=Renoise(vocab_size=vocab_size),
        write_draft=draft_likeliest,
        stop=StableAndConfident(
            stability_threshold=stability_threshold, confidence_threshold=confidence_threshold
        ),
    )


def masked_policy(
    *,
    mask_id: int,
    max_steps: int,
    entropy_bound: float = 0.1,
    min_confidence: float = 0.0,
    temperature: float = 0.0,
    find_end: FindEnd = no_end,
    accept: type[AcceptAmongMasked] | type[AcceptFromLeft] = AcceptAmongMasked,
) -> DenoisingPolicy:
    """Return the masked family's ``entropy`` mode; temperature 0 takes the likeliest token."""
    return DenoisingPolicy(
        max_steps=max_steps,
        temperature=ConstantTemperature(temperature=temperature or 1.0),
        sample=draw if temperature else take_likeliest,
        accept=accept(entropy_bound=entropy_bound, find_end=find_end),
        renew=Remask(mask_id=mask_id, min_confidence=min_confidence),
        write_draft=draft_settled,
        stop=AllSettled(find_end=find_end),
    )
