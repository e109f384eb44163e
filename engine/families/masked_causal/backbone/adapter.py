"""The gated adapter: LoRA matrices that act on canvas rows only, and their file.

It drafts (gated LoRA, arXiv 2507.11851). Its serial head corrects a row's prediction once the token
before is sampled, which the pass could not see. The known code before these rows does not pass
through it, so its keys and values are exactly the backbone's. A tuning has the same matrices, but
becomes part of the weights, at load or conversion.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor

from intarsia.engine.errors import ModelError
from intarsia.engine.families.lora import SCALE, LowRank, misfit, read_tensors
from intarsia.engine.families.masked_causal.backbone.shape import (
    BackboneShape,
    JoinedMatrix,
    PartName,
    read_shape,
)
from intarsia.engine.families.masked_causal.backbone.weights import BackboneWeights, LayerWeights
from intarsia.engine.model_store.gguf.convert import ChangeRows, Rows

LowRankLayer: TypeAlias = Mapping[PartName, LowRank]
"""The four pairs of one layer, for the same fused matrices as the backbone's."""

NAMES_IN_FILE: Mapping[PartName, str] = {"qkv": "qkv", "o": "o", "gate_up": "gu", "down": "d"}


def low_rank_layers(
    tensors: Mapping[str, Tensor], shape: BackboneShape, name: str
) -> tuple[LowRankLayer, ...]:
    """Return the pairs of all layers from tensors of the file ``name``. Raises ModelError."""

    def pair(part: str, layer: int, matrix: JoinedMatrix) -> LowRank:
        try:
            down, up = tensors[f"A.{part}{layer}"], tensors[f"B.{part}{layer}"]
        except KeyError as error:
            raise ModelError(
                f"the adapter {name} lacks the tensor {error}: it is of another backbone"
            ) from error
        if problem := misfit(down, up, matrix.num_in, matrix.num_out):
            raise ModelError(
                f"the adapter {name} is of another backbone: {part} of layer {layer} {problem}"
            )
        return LowRank(down=down, up=up * SCALE)

    return tuple(
        {part: pair(NAMES_IN_FILE[part], i, matrix) for part, matrix in shape.matrices().items()}
        for i in range(shape.num_layers)
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class SerialHead:
    """A small network over a canvas row and the token that was sampled at its own position.

    A masked row predicts the next token without knowing its own, so tokens that are sampled in
    parallel may not fit together. Sampled one by one through this head they do, at little cost
    (sampler head, arXiv 2507.11851).
    """

    down: Tensor  # (rank, 2 × hidden)
    up: Tensor  # (hidden, rank)

    def __call__(self, hidden: Tensor, own: Tensor) -> Tensor:
        """Return corrected hidden states (…, hidden), given the embeddings of their own tokens."""
        both = torch.cat([_unit_norm(hidden), _unit_norm(own)], dim=-1)
        return hidden + F.linear(F.silu(F.linear(both, self.down)), self.up)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class GatedAdapter:
    """The adapter of all layers, and what it adds to the mask token's embedding."""

    layers: tuple[LowRankLayer, ...]
    mask: Tensor  # (hidden,)
    head: SerialHead | None


def read_adapter(
    path: Path, shape: BackboneShape, *, dtype: torch.dtype, device: torch.device
) -> GatedAdapter:
    """Read a safetensors adapter. Raises ModelError if it is damaged or does not fit."""
    tensors = read_tensors(path, dtype=dtype, device=device)
    layers, mask = low_rank_layers(tensors, shape, path.name), tensors.get("mask")
    if mask is None:
        raise ModelError(
            f"the adapter {path.name} lacks the tensor 'mask': it is of another backbone"
        )
    if mask.shape != (shape.hidden,):
        raise ModelError(
            f"the adapter {path.name} is of another backbone: its mask is {tuple(mask.shape)}, "
            f"needed ({shape.hidden},)"
        )
    return GatedAdapter(layers=layers, mask=mask, head=_read_head(tensors, shape, path))


def _read_head(tensors: dict[str, Tensor], shape: BackboneShape, path: Path) -> SerialHead | None:
    """Return the serial head, None for adapters that were trained without one."""
    down, up = tensors.get("head.down"), tensors.get("head.up")
    if down is None or up is None:
        return None
    if problem := misfit(down, up, 2 * shape.hidden, shape.hidden):
        raise ModelError(f"the adapter {path.name} is of another backbone: its head {problem}")
    return SerialHead(down=down, up=up)


def _unit_norm(x: Tensor) -> Tensor:
    return F.rms_norm(x, (x.shape[-1],))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Embeddings:
    """Both matrices, perhaps mapped from a file, and what the adapter adds to them."""

    embed: Tensor  # (vocab, hidden)
    output: Tensor  # (vocab, hidden)
    mask: Tensor | None  # (hidden,), added to a mask's embedding; None without an adapter
    head: SerialHead | None


def embeddings_of(weights: BackboneWeights, adapter: GatedAdapter | None) -> Embeddings:
    """Return the embeddings without copying them; the adapter's mask is copied."""
    return Embeddings(
        embed=weights.embed,
        output=weights.output,
        mask=adapter.mask.clone() if adapter else None,
        head=adapter.head if adapter else None,
    )


def tune(weights: BackboneWeights, shape: BackboneShape, path: Path) -> BackboneWeights:
    """Return the weights with a tuning's changes. Raises ModelError if it does not fit."""
    tensors = read_tensors(path, dtype=torch.float32, device=weights.embed.device)
    changes = low_rank_layers(tensors, shape, path.name)
    layers = map(_tuned, weights.layers, changes)
    return replace(weights, layers=tuple(layers))


def rows_tuned_by(path: Path, config: Mapping[str, Any]) -> ChangeRows:
    """Return what tunes a model's rows while it is converted. Raises ModelError for a misfit."""
    tensors = read_tensors(path, dtype=torch.float32, device=torch.device("cpu"))
    changes = {
        f"layers.{i}.{part}": pair
        for i, layer in enumerate(low_rank_layers(tensors, read_shape(config), path.name))
        for part, pair in layer.items()
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
    def changed(weight: Tensor, pair: LowRank) -> Tensor:
        return torch.addmm(weight.float(), pair.up, pair.down).to(weight.dtype)

    return replace(layer, **{name: changed(getattr(layer, name), change[name]) for name in change})
