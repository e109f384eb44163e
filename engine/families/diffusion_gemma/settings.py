"""How DiffusionGemma denoises: generation config and request come in, a policy goes out."""

import math
from dataclasses import dataclass, fields, replace
from typing import Any

from intarsia.engine.diffusion.denoise import DenoisingPolicy
from intarsia.engine.diffusion.policies import uniform_state_policy
from intarsia.engine.diffusion.prediction import take_likeliest
from intarsia.engine.diffusion.schedule import ConstantTemperature, FromStep
from intarsia.engine.ipc.messages import Fill


@dataclass(frozen=True, kw_only=True, slots=True)
class DenoisingSettings:
    """The defaults are those of the released checkpoint and of transformers."""

    max_denoising_steps: int = 48
    entropy_bound: float = 0.1
    t_min: float = 0.4
    t_max: float = 0.8
    stability_threshold: int = 1
    confidence_threshold: float = 0.005

    def policy(self, request: Fill, *, vocab_size: int) -> DenoisingPolicy:
        """Return the policy of one request. Raises ValueError for a field out of its range.

        A draft enters the schedule where its noise stands: 0.5 leaves out the first half.
        """
        policy = self._whole_policy(request, vocab_size)
        if not request.draft:
            return policy
        num_steps = math.ceil(request.noise * policy.max_steps)
        skipped = policy.max_steps - num_steps
        return replace(
            policy,
            max_steps=num_steps,
            temperature=FromStep(schedule=policy.temperature, num_skipped=skipped),
        )

    def _whole_policy(self, request: Fill, vocab_size: int) -> DenoisingPolicy:
        policy = uniform_state_policy(
            vocab_size=vocab_size,
            # a smaller budget cools down within it
            max_steps=self.max_denoising_steps if request.max_steps is None else request.max_steps,
            entropy_bound=self.entropy_bound,
            t_min=self.t_min,
            t_max=self.t_max,
            stability_threshold=self.stability_threshold,
            confidence_threshold=self.confidence_threshold,
        )
        if request.temperature is None:
            return policy
        if request.temperature == 0:
            return replace(policy, sample=take_likeliest)
        return replace(policy, temperature=ConstantTemperature(temperature=request.temperature))


def read_settings(generation_config: Any) -> DenoisingSettings:
    """Take over what the checkpoint names; the rest keeps its default."""
    bound = getattr(generation_config, "sampler_config", None)
    named = {
        field.name: getattr(generation_config, field.name, None)
        for field in fields(DenoisingSettings)
    }
    named["entropy_bound"] = getattr(bound, "entropy_bound", None)
    return DenoisingSettings(**{name: value for name, value in named.items() if value is not None})
