"""A tuning of a backbone: low-rank changes that are put into the weights, at load or when they are
converted.

A file and weights come in, other weights go out; a pass costs what it did before.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from intarsia.engine.families.lora import LowRank, read_numbers
from intarsia.engine.families.masked_causal.backbone.lora_layers import (
    LowRankLayer,
    low_rank_layers,
)
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape, read_shape
from intarsia.engine.families.masked_causal.backbone.weights import BackboneWeights, LayerWeights
from intarsia.engine.model_store.gguf.convert import ChangeRows, Rows


def tune(weights: BackboneWeights, shape: BackboneShape, path: Path) -> BackboneWeights:
    """Return the weights with a tuning's changes. Raises ModelError where it does not fit."""
    numbers = read_numbers(path, dtype=torch.float32, device=weights.embed.device)
    changes = low_rank_layers(numbers, shape, path.name)
    layers = map(_tuned, weights.layers, changes)
    return replace(weights, layers=tuple(layers))


def rows_tuned_by(path: Path, config: Mapping[str, Any]) -> ChangeRows:
    """Return what puts a tuning into a model while that is converted. Raises ModelError where it
    does not fit."""
    numbers = read_numbers(path, dtype=torch.float32, device=torch.device("cpu"))
    changes = {
        f"layers.{i}.{part}": pair
        for i, layer in enumerate(low_rank_layers(numbers, read_shape(config), path.name))
        for part, pair in layer.parts().items()
    }

    def change(tensor: str, first_row: int, rows: Rows) -> Rows:
        pair = changes.get(tensor)
        if pair is None:
            return rows
        up = pair.up[first_row : first_row + len(rows)]
        changed: Rows = torch.addmm(torch.from_numpy(rows.copy()), up, pair.down).numpy()
        return changed

    return change


def _tuned(layer: LayerWeights, change: LowRankLayer) -> LayerWeights:
    parts = change.parts()
    return replace(layer, **{name: _changed(getattr(layer, name), parts[name]) for name in parts})


def _changed(weight: Tensor, change: LowRank) -> Tensor:
    return torch.addmm(weight.float(), change.up, change.down).to(weight.dtype)
