"""The settings of one engine process: checked, complete and frozen."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeAlias, get_args

Device: TypeAlias = Literal["auto", "cpu", "cuda", "mps"]
Dtype: TypeAlias = Literal["auto", "int8", "bfloat16", "float32"]
"""Number format of a model's matrices. int8 runs on a CPU, with causal backbones only."""
Quantize: TypeAlias = Literal["auto", "none", "fp8", "int4"]
"""Number format of DiffusionGemma's large matrices; the other weights keep ``Dtype``. "auto": the
first of bfloat16, float8 and four bits that fits into the device's memory."""

_CHOICES = {"device": Device, "dtype": Dtype, "quantize": Quantize}


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineConfig:
    """The settings that an engine process starts with.

    ``model`` is a name of the catalog, a folder or a hub id. ``drafter`` is a safetensors file;
    None takes the drafter bundled with the model, if there is one. ``cache_tokens`` is the number
    of context tokens that the KV caches hold across requests.
    """

    model: str = "qwen2.5-coder-0.5b"
    drafter: Path | None = None
    device: Device = "auto"
    dtype: Dtype = "auto"
    quantize: Quantize = "auto"
    idle_timeout_s: float = 30 * 60
    cache_tokens: int = 16_384
    max_context_tokens: int = 8_192

    def __post_init__(self) -> None:
        if not self.model:
            raise ValueError("the model's name is empty: give a name, a folder or a hub id")
        for name, kind in _CHOICES.items():
            if (value := getattr(self, name)) not in get_args(kind):
                raise ValueError(f"{name} must be one of {get_args(kind)}, got {value!r}")
        needs_torch = [  # our own kernels cannot keep to it
            f"--{name} {value}"
            for name, value in (("dtype", self.dtype), ("device", self.device))
            if value not in ("auto", "int8", "cpu")
        ]
        if needs_torch and find_spec("torch") is None:
            raise ValueError(
                f"{' and '.join(needs_torch)} needs torch, which is not installed: omit it, or "
                "pip install 'intarsia[torch]'"
            )
        if not self.idle_timeout_s > 0:
            raise ValueError(f"idle timeout must be above 0 seconds, got {self.idle_timeout_s}")
        if self.cache_tokens < 0:
            raise ValueError(f"cache tokens must be 0 or more, got {self.cache_tokens}")
        if self.max_context_tokens < 1:
            raise ValueError(f"max context tokens must be above 0, got {self.max_context_tokens}")


def parse_arguments(arguments: Sequence[str] | None = None) -> EngineConfig:
    """Return the config of these flags. A wrong flag ends the process with a usage line."""
    parser = _parser()
    flags = parser.parse_args(arguments)
    try:
        return EngineConfig(**vars(flags))
    except ValueError as error:
        parser.error(str(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m intarsia.engine",
        description="Hold a model in memory and fill holes for every client, as a client starts it:"
        " `intarsia engine --help` explains these options.",
        argument_default=argparse.SUPPRESS,  # EngineConfig has the defaults
    )
    parser.add_argument("--model")
    parser.add_argument("--drafter", type=Path)
    parser.add_argument("--idle-timeout", dest="idle_timeout_s", type=float)
    parser.add_argument("--cache-tokens", type=int)
    parser.add_argument("--max-context-tokens", type=int)
    for name, kind in _CHOICES.items():
        parser.add_argument(f"--{name}", choices=get_args(kind))
    return parser
