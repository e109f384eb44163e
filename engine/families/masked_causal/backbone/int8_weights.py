"""A backbone's weights in int8, as compiled passes read them: tensors come in, arrays go out.

Every matrix has a scale a row; the adapter's second one is a group of columns more of its matrix,
its first one a small matrix beside it.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from intarsia.engine.families.lora import LowRank
from intarsia.engine.families.masked_causal.backbone.adapter import GatedAdapter
from intarsia.engine.families.masked_causal.backbone.embeddings import Embeddings, model_ends
from intarsia.engine.families.masked_causal.backbone.lora_layers import LowRankLayer
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.families.masked_causal.backbone.weights import BackboneWeights, LayerWeights
from intarsia.engine.kernels.int8_matrix import AdaptedInt8, empty_matrices, put
from intarsia.engine.kernels.microkernels import GROUP, LANES

_ROWS_AT_ONCE = 1024  # panels are whole in so many

Floats: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.float32]]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ByteWeights:
    """All layers, and both ends. What is not bytes is float32; a norm that is not there, empty."""

    ends: Embeddings
    output: AdaptedInt8
    last_norm: Floats  # (hidden,)
    attn_norms: Floats  # (layers, hidden)
    mlp_norms: Floats
    q_norms: Floats  # (layers, head_dim)
    k_norms: Floats
    qkv: AdaptedInt8
    o: AdaptedInt8
    gate_up: AdaptedInt8
    down: AdaptedInt8


def reason_against_bytes(shape: BackboneShape, adapter: GatedAdapter | None) -> str | None:
    """Return why this backbone cannot be run in int8, None where it can."""
    if shape.head_dim % LANES:
        return f"its heads of {shape.head_dim} numbers do not fill vectors of {LANES}"
    ranks = {
        (part, len(pair.down))
        for layer in (adapter.layers if adapter else ())
        for part, pair in layer.parts().items()
    }
    if len(ranks) > len({part for part, _ in ranks}):
        return "its adapter's rank differs between layers"
    if not all(1 <= rank <= GROUP for _, rank in ranks):
        return f"its adapter's rank is not between 1 and {GROUP}"
    return None


def byte_weights(weights: BackboneWeights, adapter: GatedAdapter | None) -> ByteWeights:
    """Return the weights in int8. Nothing but their ends is held, so that a mapped file can go."""
    layers = weights.layers
    changes = adapter.layers if adapter else ()

    def part(
        weight_of: Callable[[LayerWeights], Tensor],
        change_of: Callable[[LowRankLayer], LowRank],
        bias_of: Callable[[LayerWeights], Tensor | None] = lambda _: None,
    ) -> AdaptedInt8:
        return _part(
            [weight_of(layer) for layer in layers],
            [bias_of(layer) for layer in layers],
            [change_of(change) for change in changes],
        )

    return ByteWeights(
        ends=model_ends(weights, adapter),
        output=_part([weights.output], [None], []),
        last_norm=_floats(weights.norm),
        attn_norms=_rows([layer.attn_norm for layer in layers]),
        mlp_norms=_rows([layer.mlp_norm for layer in layers]),
        q_norms=_rows([layer.q_norm for layer in layers]),
        k_norms=_rows([layer.k_norm for layer in layers]),
        qkv=part(lambda it: it.qkv, lambda it: it.qkv, lambda it: it.qkv_bias),
        o=part(lambda it: it.o, lambda it: it.o),
        gate_up=part(lambda it: it.gate_up, lambda it: it.gate_up),
        down=part(lambda it: it.down, lambda it: it.down),
    )


def _part(
    weights: Sequence[Tensor], biases: Sequence[Tensor | None], changes: Sequence[LowRank]
) -> AdaptedInt8:
    num_out, num_in = weights[0].shape
    matrices = empty_matrices(len(weights), num_out, num_in, is_gated=bool(changes))

    def write(block: tuple[int, int]) -> None:
        i, first = block
        rows, bias = slice(first, first + _ROWS_AT_ONCE), biases[i]
        put(
            matrices,
            i,
            first,
            _floats(weights[i][rows]),  # in float32 an embedding is half a GB
            bias=None if bias is None else _floats(bias[rows]),
            up=_floats(changes[i].up[rows]) if changes else None,
        )

    blocks = [(i, first) for i in range(len(weights)) for first in range(0, num_out, _ROWS_AT_ONCE)]
    with ThreadPoolExecutor(torch.get_num_threads()) as threads:
        list(threads.map(write, blocks))
    rank = len(changes[0].down) if changes else 0
    inner = empty_matrices(len(weights), rank, num_in, is_gated=False)
    for i, change in enumerate(changes):
        put(inner, i, 0, _floats(change.down))
    return AdaptedInt8(matrices=matrices, inner=inner)


def _rows(tensors: Sequence[Tensor | None]) -> Floats:
    there = [_floats(tensor) for tensor in tensors if tensor is not None]
    return np.stack(there) if there else np.empty((len(tensors), 0), np.float32)


def _floats(tensor: Tensor) -> Floats:
    found: Floats = tensor.detach().to(torch.float32).cpu().numpy().copy()
    return found
