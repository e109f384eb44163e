"""Ready policies for the denoising loop, one for each kind of discrete diffusion."""

from intarsia.engine.diffusion.acceptance import (
    AcceptAmongFree,
    AcceptAmongMasked,
    AcceptFromLeft,
)
from intarsia.engine.diffusion.denoise import DenoisingPolicy
from intarsia.engine.diffusion.draft import draft_accepted, draft_likeliest
from intarsia.engine.diffusion.hole_end import EndPosition, no_end
from intarsia.engine.diffusion.prediction import draw, take_likeliest
from intarsia.engine.diffusion.renewal import Remask, Renoise
from intarsia.engine.diffusion.schedule import ConstantTemperature, LinearTemperature
from intarsia.engine.diffusion.stopping import AllAccepted, StableAndConfident, Stop

_STABLE = StableAndConfident(stability_threshold=1, confidence_threshold=0.005)


def uniform_state_policy(
    *,
    vocab_size: int,
    max_steps: int = 48,
    entropy_bound: float = 0.1,
    t_min: float = 0.4,
    t_max: float = 0.8,
    stop: Stop = _STABLE,
) -> DenoisingPolicy:
    """Return DiffusionGemma's own policy; the defaults are those of its generation config."""
    return DenoisingPolicy(
        max_steps=max_steps,
        temperature=LinearTemperature(t_min=t_min, t_max=t_max, num_steps=max_steps),
        sample=draw,
        accept=AcceptAmongFree(entropy_bound=entropy_bound),
        renew=Renoise(vocab_size=vocab_size),
        write_draft=draft_likeliest,
        stop=stop,
    )


def masked_policy(
    *,
    renew: Remask,
    max_steps: int,
    entropy_bound: float = 0.1,
    temperature: float = 0.0,
    end_position: EndPosition = no_end,
    accept: type[AcceptAmongMasked] | type[AcceptFromLeft] = AcceptAmongMasked,
) -> DenoisingPolicy:
    """Return the policy of ``entropy`` decoding; temperature 0 takes the likeliest token."""
    return DenoisingPolicy(
        max_steps=max_steps,
        temperature=ConstantTemperature(temperature=temperature or 1.0),
        sample=draw if temperature else take_likeliest,
        accept=accept(entropy_bound=entropy_bound, end_position=end_position),
        renew=renew,
        write_draft=draft_accepted,
        stop=AllAccepted(end_position=end_position),
    )
