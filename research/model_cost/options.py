"""What a measurement of DiffusionGemma covers. Imports no torch."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

ShapeName: TypeAlias = Literal["published", "toy"]
Weights: TypeAlias = Literal["bf16", "fp8", "int4"]
Way: TypeAlias = Literal["direct", "fixed", "graph"]
"""How passes run. ``direct``: with the context's own shapes. ``fixed``: padded to a fixed length.
``graph``: padded, and captured as CUDA graphs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasureOptions:
    """The cases are all combinations. No case is started after ``seconds``."""

    shape: ShapeName = "published"
    device: Literal["cuda", "cpu"] = "cuda"
    weights: tuple[Weights, ...] = ("bf16",)
    ways: tuple[Way, ...] = ("direct",)
    canvases: tuple[int, ...] = (32, 64, 128, 256)
    contexts: tuple[int, ...] = (1024, 8192, 65536)
    batches: tuple[int, ...] = (1, 4, 16)
    repeats: int = 10
    seconds: float = 540
    file: Path | None = None

    def __post_init__(self) -> None:
        for name in ("canvases", "contexts", "batches", "weights", "ways"):
            if not getattr(self, name):
                raise ValueError(f"{name} needs at least one value")
        for name, known in (("weights", get_args(Weights)), ("ways", get_args(Way))):
            if unknown := set(getattr(self, name)) - set(known):
                raise ValueError(f"{name} are {', '.join(known)}, got {', '.join(sorted(unknown))}")
        for name in ("canvases", "contexts", "batches"):
            if min(getattr(self, name)) < 1:
                raise ValueError(f"{name} must be 1 or more, got {getattr(self, name)}")
        if self.repeats < 1:
            raise ValueError(f"repeats must be 1 or more, got {self.repeats}")
