"""The temperature of each denoising step; steps are counted from 1."""

from collections.abc import Callable
from dataclasses import dataclass

import torch


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

    def __post_init__(self) -> None:
        if self.num_skipped < 0:
            raise ValueError(f"skipped steps must be 0 or more, got {self.num_skipped}")

    def __call__(self, step: int) -> float:
        return self.schedule(step + self.num_skipped)
