"""The settings of one engine process: checked, complete and frozen."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

Device: TypeAlias = Literal["auto", "cpu", "cuda", "mps"]
Dtype: TypeAlias = Literal["auto", "int8", "bfloat16", "float32"]
"""Number format of a model's matrices. int8 runs on a CPU, with causal backbones only."""
Quantize: TypeAlias = Literal["none", "fp8", "int4"]
"""Number format of DiffusionGemma's large matrices; the other weights keep ``Dtype``."""
Unmasking: TypeAlias = Literal["own", "hackable-diffusion"]
"""Which steps ``entropy`` decoding takes: ours, or for research those of another library."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineConfig:
    """The settings that an engine process starts with.

    ``model`` is a name of the catalog, a folder or a hub id. ``adapter`` is a safetensors file;
    None takes the adapter bundled with the model, if there is one. ``cache_tokens`` is the number
    of context tokens that the KV caches hold across requests.
    """

    model: str = "qwen2.5-coder-0.5b"
    adapter: Path | None = None
    device: Device = "auto"
    dtype: Dtype = "auto"
    quantize: Quantize = "none"
    unmasking: Unmasking = "own"
    idle_timeout_s: float = 30 * 60
    cache_tokens: int = 16_384
    max_context_tokens: int = 8_192

    def __post_init__(self) -> None:
        if not self.model:
            raise ValueError("the model's name is empty: give a name, a folder or a hub id")
        if self.device not in get_args(Device):
            raise ValueError(f"device must be one of {get_args(Device)}, got {self.device!r}")
        if self.dtype not in get_args(Dtype):
            raise ValueError(f"dtype must be one of {get_args(Dtype)}, got {self.dtype!r}")
        if self.quantize not in get_args(Quantize):
            raise ValueError(f"quantize must be one of {get_args(Quantize)}, got {self.quantize!r}")
        if self.unmasking not in get_args(Unmasking):
            raise ValueError(
                f"unmasking must be one of {get_args(Unmasking)}, got {self.unmasking!r}"
            )
        if not self.idle_timeout_s > 0:
            raise ValueError(f"idle timeout must be above 0 seconds, got {self.idle_timeout_s}")
        if self.cache_tokens < 0:
            raise ValueError(f"cache tokens must be 0 or more, got {self.cache_tokens}")
        if self.max_context_tokens < 1:
            raise ValueError(f"max context tokens must be above 0, got {self.max_context_tokens}")
