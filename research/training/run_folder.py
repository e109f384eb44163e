"""What a training run leaves on the disk, and goes on from: weights, optimiser, log.

``adapter.safetensors`` is ready for use at any time; ``state.safetensors`` and ``state.json`` let
the run go on; ``log.jsonl`` has one line for every few steps.
"""

import json
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from intarsia.engine.errors import ModelError


class RunState(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run is."""

    step: int
    num_tokens: int
    spent_s: float
    settings: dict[str, Any]  # of the run: one that goes on must have the same


class RunFolder:
    """The files of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    @property
    def adapter(self) -> Path:
        return self.path / "adapter.safetensors"

    @property
    def log(self) -> Path:
        return self.path / "log.jsonl"

    def note(self, **figures: Any) -> None:
        """Write a line of the log."""
        with self.log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(figures) + "\n")

    def save(self, state: RunState, module: nn.Module, optimiser: torch.optim.Optimizer) -> None:
        """Keep all that the run needs to go on; the state last, as it says that the rest is
        whole."""
        tensors = {f"parameter.{n}": p.detach() for n, p in module.named_parameters()}
        for name, parameter in module.named_parameters():
            for key, value in optimiser.state.get(parameter, {}).items():
                tensors[f"{key}.{name}"] = torch.as_tensor(value).detach()
        _replace(self.path / "state.safetensors", tensors)
        partial = self.path / "state.json.partial"
        partial.write_bytes(msgspec.json.encode(state))
        partial.replace(self.path / "state.json")

    def resume(
        self, module: nn.Module, optimiser: torch.optim.Optimizer, settings: dict[str, Any]
    ) -> RunState | None:
        """Put a run back to where it was saved; None where there is none. Raises ModelError."""
        path = self.path / "state.json"
        if not path.exists():
            return None
        try:
            state = msgspec.json.decode(path.read_bytes(), type=RunState)
            tensors = load_file(self.path / "state.safetensors")
        except (OSError, ValueError) as error:
            raise ModelError(
                f"the run in {self.path} cannot go on ({error}): name another folder"
            ) from error
        if state.settings != settings:
            raise ModelError(
                f"the run in {self.path} was begun with other settings: name another folder"
            )
        for name, parameter in module.named_parameters():
            with torch.no_grad():
                parameter.copy_(tensors.pop(f"parameter.{name}"))
            keys = [key for key in tensors if key.endswith(f".{name}")]
            optimiser.state[parameter] = {
                key.removesuffix(f".{name}"): tensors.pop(key) for key in keys
            }
        return state


def _replace(path: Path, tensors: dict[str, torch.Tensor]) -> None:
    partial = path.with_name(f"{path.name}.partial")
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, partial)
    partial.replace(path)
