"""Merge a tuning (LoRA) into DiffusionGemma's attention and dense layers.

Router, experts and embeddings are not changed. Encoder and decoder share the tuned weights, so one
LoRA pair changes both.
"""

from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from intarsia.engine.errors import ModelError
from intarsia.engine.families.lora import SCALE, misfit, read_tensors

_PARTS = (
    *(f"self_attn.{part}_proj" for part in "qkvo"),
    *(f"mlp.{part}_proj" for part in ("gate", "up", "down")),
)


def tunable_layers(model: Any) -> dict[str, tuple[nn.Linear, ...]]:
    """Return the linear layers that a tuning changes, by their path in the decoder.

    Each entry has the decoder's layer and the encoder's layer with the same weight.
    """
    decoder, encoder = model.model.decoder.layers, model.model.encoder.language_model.layers
    found: dict[str, tuple[nn.Linear, ...]] = {}
    for number, twins in enumerate(zip(decoder, encoder, strict=True)):
        for part in _PARTS:
            linears = tuple(map(attrgetter(part), twins))
            # layers with full attention have no values of their own
            if all(linear is not None for linear in linears):
                found[f"decoder.layers.{number}.{part}"] = linears
    return found


def tune_model(model: Any, path: Path) -> None:
    """Merge a tuning into the weights. Raises ModelError if it does not fit the model."""
    layers = tunable_layers(model)
    numbers = read_tensors(path, dtype=torch.float32, device=model.device)
    _require_same_model(numbers, layers, path)
    for name, linears in layers.items():
        change = SCALE * numbers[f"B.{name}"] @ numbers[f"A.{name}"]
        for weight in {id(linear.weight): linear.weight for linear in linears}.values():
            with torch.no_grad():
                weight.copy_(weight.float() + change)


def _require_same_model(
    numbers: Mapping[str, Tensor], layers: Mapping[str, tuple[nn.Linear, ...]], path: Path
) -> None:
    needed = {f"{half}.{name}" for name in layers for half in "AB"}
    if odd := sorted(needed ^ numbers.keys()):
        has = "lacks" if odd[0] in needed else "holds"
        raise ModelError(
            f"the tuning {path} is of another model: it {has} {odd[0]}; give one that was trained "
            "on this model"
        )
    for name, (linear, *_) in layers.items():
        down, up = numbers[f"A.{name}"], numbers[f"B.{name}"]
        if problem := misfit(down, up, linear.in_features, linear.out_features):
            raise ModelError(f"the tuning {path} is of another model: {name} {problem}")
