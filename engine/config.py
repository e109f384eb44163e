"""The engine's settings, resolved and frozen."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineConfig:
    """What one engine process is told at its start.

    ``model``: a name of the catalog, a folder, or a hub id. ``adapter``: a safetensors file, None for the
    one bundled with the model (if there is one). ``cache_tokens``: context tokens whose keys and values
    are held across requests.
    """

    model: str = "qwen2.5-coder-0.5b"
    adapter: Path | None = None
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    dtype: Literal["auto", "bfloat16", "float32"] = "auto"
    idle_timeout_s: float = 30 * 60
    cache_tokens: int = 16_384
    max_context_tokens: int = 8_192

    def __post_init__(self) -> None:
        if self.idle_timeout_s <= 0:
            raise ValueError(f"idle timeout must be above 0 seconds, got {self.idle_timeout_s}")
