"""The folder of a training run: weights, the state to resume from, and the log.

``weights.safetensors`` is usable at any time. ``state.safetensors`` and ``state.json`` are what a
run is resumed from. ``log.jsonl`` has a line every few steps.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from intarsia.engine.errors import ModelError


class RunState(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run is. A resumed run must have the same ``settings``."""

    step: int
    num_tokens: int
    spent_s: float
    settings: dict[str, Any]


class RunFolder:
    """The files of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    @property
    def weights(self) -> Path:
        return self.path / "weights.safetensors"

    @property
    def holes(self) -> Path:
        return self.path / "holes.safetensors"

    @property
    def log(self) -> Path:
        return self.path / "log.jsonl"

    def append_log(self, **figures: Any) -> None:
        """Append a line to the log."""
        with self.log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(figures) + "\n")

    def save(self, state: RunState, module: nn.Module, optimiser: torch.optim.Optimizer) -> None:
        """Write what the run is resumed from. ``state.json`` is written last: if it is there, the
        tensors are complete."""
        tensors = {f"parameter.{n}": p.detach() for n, p in module.named_parameters()}
        for name, parameter in module.named_parameters():
            for key, value in optimiser.state.get(parameter, {}).items():
                tensors[f"{key}.{name}"] = torch.as_tensor(value).detach()
        write_tensors(tensors, self.path / "state.safetensors")
        partial = self.path / "state.json.partial"
        partial.write_bytes(msgspec.json.encode(state))
        partial.replace(self.path / "state.json")

    def resume(
        self, module: nn.Module, optimiser: torch.optim.Optimizer, settings: dict[str, Any]
    ) -> RunState | None:
        """Restore module and optimiser; return the saved state, None if there is none.

        Raises ModelError if the state is unreadable or was saved with other settings.
        """
        path = self.path / "state.json"
        if not path.exists():
            return None
        try:
            state = msgspec.json.decode(path.read_bytes(), type=RunState)
            tensors = load_file(self.path / "state.safetensors")
        except (OSError, ValueError) as error:
            raise ModelError(
                f"the run in {self.path} cannot be resumed ({error}): name another folder"
            ) from error
        if state.settings != settings:
            raise ModelError(
                f"the run in {self.path} was started with other settings: name another folder"
            )
        for name, parameter in module.named_parameters():
            with torch.no_grad():
                parameter.copy_(tensors.pop(f"parameter.{name}"))
            keys = [key for key in tensors if key.endswith(f".{name}")]
            optimiser.state[parameter] = {
                key.removesuffix(f".{name}"): tensors.pop(key) for key in keys
            }
        return state


def write_tensors(
    tensors: Mapping[str, torch.Tensor], path: Path, metadata: dict[str, str] | None = None
) -> None:
    """Write the whole file, or none; ``metadata`` goes into its header."""
    partial = path.with_name(f"{path.name}.partial")
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, partial, metadata)
    partial.replace(path)
