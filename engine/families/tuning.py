"""A tuning of a backbone: low-rank changes that are put into the weights at load.

A file and weights come in, other weights go out; a pass costs what it did before.
"""

from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from intarsia.engine.families.backbone_shape import BackboneShape
from intarsia.engine.families.backbone_weights import BackboneWeights, LayerWeights
from intarsia.engine.families.low_rank import LowRank, LowRankLayer, low_rank_layers, read_numbers


def tune(weights: BackboneWeights, shape: BackboneShape, path: Path) -> BackboneWeights:
    """Return the weights with a tuning's changes. Raises ModelError where it does not fit."""
    numbers = read_numbers(path, dtype=torch.float32, device=weights.embed.device)
    changes = low_rank_layers(numbers, shape, path.name)
    layers = map(_tuned, weights.layers, changes)
    return replace(weights, layers=tuple(layers))


def _tuned(layer: LayerWeights, change: LowRankLayer) -> LayerWeights:
    return replace(
        layer,
        qkv=_changed(layer.qkv, change.qkv),
        o=_changed(layer.o, change.o),
        gate_up=_changed(layer.gate_up, change.gate_up),
        down=_changed(layer.down, change.down),
    )


def _changed(weight: Tensor, change: LowRank) -> Tensor:
    return torch.addmm(weight.float(), change.up, change.down).to(weight.dtype)
