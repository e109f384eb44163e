"""The policy of the denoising loop for uniform-state diffusion, and its schedules."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from intarsia.engine.diffusion.acceptance import AcceptAmongFree, StableAndConfident, Stop
from intarsia.engine.diffusion.denoise import DenoisingPolicy
from intarsia.engine.diffusion.prediction import draw
from intarsia.engine.diffusion.renewal import Renoise


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantTemperature:
    """The same temperature at every step; 1 keeps the model's distribution."""

    temperature: float = 1.0

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ValueError(f"temperature must be above 0, got {self.temperature}")

    def __call__(self, step: int) -> float:
        return self.temperature


@dataclass(frozen=True, kw_only=True, slots=True)
class LinearTemperature:
    """Fall from near ``t_max`` to near ``t_min`` in ``num_steps`` steps, then stay there."""

    t_min: float
    t_max: float
    num_steps: int

    def __post_init__(self) -> None:
        if not 0 < self.t_min <= self.t_max:
            raise ValueError(f"need 0 < t_min <= t_max, got {self.t_min} and {self.t_max}")
        if self.num_steps < 1:
            raise ValueError(f"num_steps must be at least 1, got {self.num_steps}")

    def __call__(self, step: int) -> float:
        # In float32, as transformers computes it: the last bit can decide which token is drawn.
        steps_left = torch.tensor(max(self.num_steps - step + 1, 1), dtype=torch.int32)
        return float(self.t_min + (self.t_max - self.t_min) * (steps_left / self.num_steps))


@dataclass(frozen=True, kw_only=True, slots=True)
class FromStep:
    """A schedule without its first steps, for a draft that needs less noise."""

    schedule: Callable[[int], float]
    num_skipped: int

    def __call__(self, step: int) -> float:
        return self.schedule(step + self.num_skipped)


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
        stop=stop,
    )
