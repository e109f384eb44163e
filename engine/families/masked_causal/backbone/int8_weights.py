"""Quantize a backbone's weights to int8, in the layout that the compiled kernels read.

Each row of a matrix has one scale. The adapter's up matrices become one more group of columns of
the matrix that they change; its down matrices are small int8 matrices of their own.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from intarsia.engine.cache.folder import cache_folder
from intarsia.engine.families.lora import LowRank
from intarsia.engine.families.masked_causal.backbone.adapter import (
    Embeddings,
    GatedAdapter,
    PartName,
    embeddings_of,
)
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.families.masked_causal.backbone.weights import BackboneWeights, LayerWeights
from intarsia.engine.kernels.compile_cache import keep_compiled
from intarsia.engine.kernels.int8_matrix import empty_matrices, write_rows
from intarsia.engine.kernels.int8_support import can_multiply_int8
from intarsia.engine.kernels.microkernels import GROUP
from intarsia.engine.kernels.operands import AdaptedInt8, Floats, LayerStack
from intarsia.engine.kernels.vector_writer import num_lanes

_ROWS_AT_ONCE = 1024  # a whole number of panels


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Int8Weights:
    """All layers, the output matrix, and the embeddings, which stay as they are."""

    embeddings: Embeddings
    output: AdaptedInt8
    layers: LayerStack


def is_int8_supported() -> bool:
    """Tell whether this processor runs int8 weights; the first call may compile for seconds."""
    keep_compiled(cache_folder() / "kernels")
    return can_multiply_int8()


def why_unfit_for_int8(shape: BackboneShape, adapter: GatedAdapter | None) -> str | None:
    """Return why this backbone cannot run in int8, None where it can."""
    if shape.head_dim % num_lanes():
        return f"its heads of {shape.head_dim} numbers do not fill vectors of {num_lanes()}"
    if adapter is None:
        return None
    ranks = [[len(pair.down) for pair in layer.parts().values()] for layer in adapter.layers]
    if any(layer != ranks[0] for layer in ranks):
        return "its adapter's rank differs between layers"
    if not all(1 <= rank <= GROUP for rank in ranks[0]):
        return f"its adapter's ranks are not between 1 and {GROUP}"
    return None


def quantize_weights(weights: BackboneWeights, adapter: GatedAdapter | None) -> Int8Weights:
    """Return the weights in int8. Only the embeddings still refer to the given ones, so that a
    mapped file can be released."""
    layers = weights.layers

    def part(
        name: PartName,
        weight_of: Callable[[LayerWeights], Tensor],
        bias_of: Callable[[LayerWeights], Tensor | None] = lambda _: None,
    ) -> AdaptedInt8:
        return _part(
            [weight_of(layer) for layer in layers],
            [bias_of(layer) for layer in layers],
            [layer.parts()[name] for layer in adapter.layers] if adapter else [],
        )

    return Int8Weights(
        embeddings=embeddings_of(weights, adapter),
        output=_part([weights.output], [None], []),
        layers=LayerStack(
            attn_norms=_stack([layer.attn_norm for layer in layers]),
            mlp_norms=_stack([layer.mlp_norm for layer in layers]),
            q_norms=_stack([layer.q_norm for layer in layers]),
            k_norms=_stack([layer.k_norm for layer in layers]),
            last_norm=_floats(weights.norm),
            qkv=part("qkv", lambda x: x.qkv, lambda x: x.qkv_bias),
            o=part("o", lambda x: x.o),
            gate_up=part("gate_up", lambda x: x.gate_up),
            down=part("down", lambda x: x.down),
        ),
    )


def _part(
    weights: Sequence[Tensor], biases: Sequence[Tensor | None], changes: Sequence[LowRank]
) -> AdaptedInt8:
    """Quantize one part of all layers, as the adapter changes it; no changes: no adapter."""
    num_out, num_in = weights[0].shape
    matrices = empty_matrices(len(weights), num_out, num_in, has_adapter=bool(changes))

    def write(block: tuple[int, int]) -> None:
        i, first = block
        rows, bias = slice(first, first + _ROWS_AT_ONCE), biases[i]
        write_rows(
            matrices,
            i,
            first,
            _floats(weights[i][rows]),  # block by block: an embedding in float32 is half a GB
            bias=None if bias is None else _floats(bias[rows]),
            up=_floats(changes[i].up[rows]) if changes else None,
        )

    blocks = [(i, first) for i in range(len(weights)) for first in range(0, num_out, _ROWS_AT_ONCE)]
    with ThreadPoolExecutor(torch.get_num_threads()) as threads:
        list(threads.map(write, blocks))
    rank = len(changes[0].down) if changes else 0
    down = empty_matrices(len(weights), rank, num_in, has_adapter=False)
    for i, change in enumerate(changes):
        write_rows(down, i, 0, _floats(change.down))
    return AdaptedInt8(matrices=matrices, down=down)


def _stack(tensors: Sequence[Tensor | None]) -> Floats:
    """Return all layers' norms, (layers, 0) where the model has none."""
    arrays = [_floats(tensor) for tensor in tensors if tensor is not None]
    return np.stack(arrays) if arrays else np.empty((len(tensors), 0), np.float32)


def _floats(tensor: Tensor) -> Floats:
    array: Floats = tensor.detach().to(torch.float32).cpu().numpy().copy()
    return array
