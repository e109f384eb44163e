"""Quantize a backbone's weights to int8, in the layout that the compiled kernels read.

Each row of a matrix has one scale. The adapters' up matrices become one more group of columns of
the matrix that they change; their down matrices are small int8 matrices of their own.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from intarsia.engine.cache.folder import cache_folder
from intarsia.engine.families.lora import LowRank
from intarsia.engine.families.masked_causal.backbone.adapter import Adapters
from intarsia.engine.families.masked_causal.backbone.adapter_kind import AdapterKind
from intarsia.engine.families.masked_causal.backbone.embeddings import Embeddings, embeddings_of
from intarsia.engine.families.masked_causal.backbone.lora_layers import PartName
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.families.masked_causal.backbone.weights import BackboneWeights, LayerWeights
from intarsia.engine.kernels.compile_cache import keep_compiled
from intarsia.engine.kernels.int8_matrix import empty_matrices, write_rows
from intarsia.engine.kernels.int8_support import can_multiply_int8
from intarsia.engine.kernels.microkernels import GROUP
from intarsia.engine.kernels.operands import AdaptedInt8, Floats, Int8Matrices, LayerStack
from intarsia.engine.kernels.vector_writer import num_lanes

_ROWS_AT_ONCE = 1024  # a whole number of panels


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Int8Weights:
    """All layers, the output matrix, and the embeddings, which stay as they are."""

    embeddings: Embeddings
    output: AdaptedInt8
    layers: Mapping[AdapterKind, LayerStack]  # as each adapter changes them: they share matrices


def is_int8_supported() -> bool:
    """Tell whether this processor runs int8 weights; the first call may compile for seconds."""
    keep_compiled(cache_folder() / "kernels")
    return can_multiply_int8()


def why_unfit_for_int8(shape: BackboneShape, adapters: Adapters) -> str | None:
    """Return why this backbone cannot run in int8, None where it can."""
    if shape.head_dim % num_lanes():
        return f"its heads of {shape.head_dim} numbers do not fill vectors of {num_lanes()}"
    parts: Sequence[PartName] = ("qkv", "o", "gate_up", "down")
    ranks = [
        {part: [len(change.parts()[part].down) for change in changes.values()] for part in parts}
        for changes in map(adapters.layer, range(shape.num_layers))
    ]
    if any(layer != ranks[0] for layer in ranks):
        return "its adapter's rank differs between layers"
    if not all(min(of, default=1) >= 1 and sum(of) <= GROUP for of in ranks[0].values()):
        return f"its adapters' ranks are not between 1 and {GROUP} together"
    return None


def quantize_weights(weights: BackboneWeights, adapters: Adapters) -> Int8Weights:
    """Return the weights in int8. Only the embeddings still refer to the given ones, so that a
    mapped file can be released."""
    layers = weights.layers
    changes = [adapters.layer(number) for number in range(len(layers))]

    def part(
        name: PartName,
        weight_of: Callable[[LayerWeights], Tensor],
        bias_of: Callable[[LayerWeights], Tensor | None] = lambda _: None,
    ) -> dict[AdapterKind, AdaptedInt8]:
        return _part(
            [weight_of(layer) for layer in layers],
            [bias_of(layer) for layer in layers],
            [{kind: of.parts()[name] for kind, of in change.items()} for change in changes],
        )

    qkv = part("qkv", lambda x: x.qkv, lambda x: x.qkv_bias)
    o = part("o", lambda x: x.o)
    gate_up = part("gate_up", lambda x: x.gate_up)
    down = part("down", lambda x: x.down)

    def stack(kind: AdapterKind) -> LayerStack:
        return LayerStack(
            attn_norms=_stack([layer.attn_norm for layer in layers]),
            mlp_norms=_stack([layer.mlp_norm for layer in layers]),
            q_norms=_stack([layer.q_norm for layer in layers]),
            k_norms=_stack([layer.k_norm for layer in layers]),
            last_norm=_floats(weights.norm),
            qkv=qkv[kind],
            o=o[kind],
            gate_up=gate_up[kind],
            down=down[kind],
        )

    return Int8Weights(
        embeddings=embeddings_of(weights, adapters.draft),
        output=_part([weights.output], [None], [{}])["draft"],
        layers={kind: stack(kind) for kind in qkv},
    )


def _part(
    weights: Sequence[Tensor],
    biases: Sequence[Tensor | None],
    changes: Sequence[Mapping[AdapterKind, LowRank]],
) -> dict[AdapterKind, AdaptedInt8]:
    """Quantize one part of all layers, as each adapter changes it.

    The adapters share the last group of columns, one next to the other.
    """
    num_out, num_in = weights[0].shape
    matrices = empty_matrices(len(weights), num_out, num_in, has_adapter=bool(changes[0]))

    def write(block: tuple[int, int]) -> None:
        i, first = block
        rows, bias = slice(first, first + _ROWS_AT_ONCE), biases[i]
        ups = [change.up[rows] for change in changes[i].values()]
        write_rows(
            matrices,
            i,
            first,
            _floats(weights[i][rows]),  # block by block: an embedding in float32 is half a GB
            bias=None if bias is None else _floats(bias[rows]),
            up=_floats(torch.cat(ups, dim=1)) if ups else None,
        )

    blocks = [(i, first) for i in range(len(weights)) for first in range(0, num_out, _ROWS_AT_ONCE)]
    with ThreadPoolExecutor(torch.get_num_threads()) as threads:
        list(threads.map(write, blocks))
    kinds: Sequence[AdapterKind] = tuple(changes[0]) or ("draft",)
    downs = {kind: _downs(changes, kind, num_in) for kind in kinds}
    return {kind: AdaptedInt8(matrices=matrices, down=down) for kind, down in downs.items()}


def _downs(
    changes: Sequence[Mapping[AdapterKind, LowRank]], kind: AdapterKind, num_in: int
) -> Int8Matrices:
    """Return the down matrices of one adapter, with zeros in place of the other's."""
    rank = sum(len(change.down) for change in changes[0].values())
    down = empty_matrices(len(changes), rank, num_in, has_adapter=False)
    for i, change in enumerate(changes):
        rows = [of.down if own == kind else torch.zeros_like(of.down) for own, of in change.items()]
        if rows:
            write_rows(down, i, 0, _floats(torch.cat(rows)))
    return down


def _stack(tensors: Sequence[Tensor | None]) -> Floats:
    """Return all layers' norms, (layers, 0) where the model has none."""
    arrays = [_floats(tensor) for tensor in tensors if tensor is not None]
    return np.stack(arrays) if arrays else np.empty((len(tensors), 0), np.float32)


def _floats(tensor: Tensor) -> Floats:
    array: Floats = tensor.detach().to(torch.float32).cpu().numpy().copy()
    return array
