"""How DiffusionGemma denoises: the policy of a request, from the checkpoint's own settings."""

import math
from dataclasses import dataclass, fields, replace
from typing import Any

from intarsia.engine.diffusion.acceptance import StableAndConfident
from intarsia.engine.diffusion.denoise import DenoisingPolicy
from intarsia.engine.diffusion.policies import ConstantTemperature, FromStep, uniform_state_policy
from intarsia.engine.diffusion.prediction import take_likeliest
from intarsia.engine.ipc.messages import Fill


@dataclass(frozen=True, kw_only=True, slots=True)
class DenoisingSettings:
    """Denoising settings; the defaults are those of the released checkpoint and of transformers."""

    max_denoising_steps: int = 48
    entropy_bound: float = 0.1
    t_min: float = 0.4
    t_max: float = 0.8
    stability_threshold: int = 1
    confidence_threshold: float = 0.005

    def policy(self, request: Fill, *, vocab_size: int) -> DenoisingPolicy:
        """Return a request's policy; a draft skips noisier steps. Raises ValueError for a field."""
        policy = self._whole_policy(request, vocab_size)
        return _begun_at(policy, request.noise) if request.draft else policy

    def _whole_policy(self, request: Fill, vocab_size: int) -> DenoisingPolicy:
        policy = uniform_state_policy(
            vocab_size=vocab_size,
            # a smaller budget cools down within it
            max_steps=self.max_denoising_steps if request.max_steps is None else request.max_steps,
            entropy_bound=self.entropy_bound,
            t_min=self.t_min,
            t_max=self.t_max,
            stop=StableAndConfident(
                stability_threshold=self.stability_threshold,
                confidence_threshold=self.confidence_threshold,
            ),
        )
        if request.temperature is None:
            return policy
        if request.temperature == 0:
            return replace(policy, sample=take_likeliest)
        return replace(policy, temperature=ConstantTemperature(temperature=request.temperature))


def _begun_at(policy: DenoisingPolicy, noise: float) -> DenoisingPolicy:
    """Return the policy of a canvas that is noise in this share: the end of the schedule."""
    num_steps = math.ceil(noise * policy.max_steps)
    schedule = FromStep(schedule=policy.temperature, num_skipped=policy.max_steps - num_steps)
    return replace(policy, max_steps=num_steps, temperature=schedule)


def read_settings(generation_config: Any) -> DenoisingSettings:
    """Return the checkpoint's settings; those that it lacks keep their defaults."""
    sampler = getattr(generation_config, "sampler_config", None)
    values = {
        field.name: getattr(generation_config, field.name, None)
        for field in fields(DenoisingSettings)
    }
    values["entropy_bound"] = getattr(sampler, "entropy_bound", None)
    return DenoisingSettings(**{name: value for name, value in values.items() if value is not None})
