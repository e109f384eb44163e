"""A causal backbone with int8 weights, run by compiled kernels (engine/kernels) on the CPU.

Each row is multiplied by itself, so a frozen row's result does not depend on the other rows of the
pass: speculative and autoregressive decoding give the same text to the bit. (Masks among the keys
do change how the sums of other masks are rounded, but masks only propose.)
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
    embeddings_of,
)
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone, Rows
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.rotary import inverse_frequencies, rotation
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape, PartName
from intarsia.engine.families.masked_causal.backbone.weights import BackboneWeights, LayerWeights
from intarsia.engine.kernels.compile_cache import keep_compiled, run_compiled
from intarsia.engine.kernels.forward import PHASES_PER_LAYER, run_layers
from intarsia.engine.kernels.int8_matrix import empty_matrices, write_rows
from intarsia.engine.kernels.int8_support import can_multiply_int8, empty_rows, multiply_rows
from intarsia.engine.kernels.microkernels import GROUP, MAX_TILE_ROWS
from intarsia.engine.kernels.operands import (
    AdaptedInt8,
    Buffers,
    Floats,
    KeysValues,
    LayerStack,
    Model,
    PassRows,
    RowsAndBuffers,
    Shape,
)
from intarsia.engine.kernels.vector_writer import num_lanes
from intarsia.engine.kernels.work_units import ThreadTeam

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
    ranks = [[len(pair.down) for pair in layer.values()] for layer in adapter.layers]
    if any(layer != ranks[0] for layer in ranks):
        return "its adapter's rank differs between layers"
    if not all(1 <= rank <= GROUP for rank in ranks[0]):
        return f"its adapter's ranks are not between 1 and {GROUP}"
    return None


def quantize_weights(weights: BackboneWeights, adapter: GatedAdapter | None) -> Int8Weights:
    """Return the weights in int8, with one scale for each row of a matrix.

    The adapter's up matrices become one more group of columns of the matrix that they change. Only
    the embeddings still refer to the given weights, so that a mapped file can be released.
    """
    layers = weights.layers

    def part(
        name: PartName,
        weight_of: Callable[[LayerWeights], Tensor],
        bias_of: Callable[[LayerWeights], Tensor | None] = lambda _: None,
    ) -> AdaptedInt8:
        return _part(
            [weight_of(layer) for layer in layers],
            [bias_of(layer) for layer in layers],
            [layer[name] for layer in adapter.layers] if adapter else [],
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


_CHUNK = 64  # tokens; with 126 a context is read 6 % faster, but a cancel waits for 0.2 s


class Int8Backbone(CausalBackbone):
    """Weights, and the threads that run passes over them."""

    def __init__(
        self, shape: BackboneShape, weights: Int8Weights, *, mask_id: int, num_threads: int
    ) -> None:
        super().__init__(shape, weights.embeddings, mask_id=mask_id)
        self._weights = weights
        self._team = ThreadTeam(num_threads)
        self._frequencies = inverse_frequencies(shape)
        sizes = Shape(
            num_heads=shape.num_heads,
            num_kv_heads=shape.num_kv_heads,
            head_dim=shape.head_dim,
            intermediate=shape.intermediate,
            norm_eps=np.float32(shape.norm_eps),
        )
        self._model = Model(layers=weights.layers, shape=sizes)

    @property
    def chunk_tokens(self) -> int:
        return _CHUNK

    def new_cache(self) -> KvCache:
        return KvCache(self.shape, dtype=torch.bfloat16, device=self.device, key_lanes=num_lanes())

    def prepare(self) -> None:
        """Compile the kernels, or load those that an earlier start compiled."""
        ids, visible = torch.zeros(1, dtype=torch.long), torch.ones(1, 1, dtype=torch.bool)
        rows = Rows(ids=ids, positions=ids, num_frozen=1, visible=visible)
        run_compiled(lambda: self.logits(self.forward(rows, self.new_cache())))

    def forward(self, rows: Rows, cache: KvCache) -> Tensor:
        cache.reserve(len(rows.ids))
        cosine, sine = rotation(rows.positions, self._frequencies, torch.float32)
        pass_rows = PassRows(
            start=len(cache),
            num_frozen=rows.num_frozen,
            visible=rows.visible.numpy(),
            cosine=cosine.numpy(),
            sine=sine.numpy(),
        )
        whole = RowsAndBuffers(pass_rows, self._buffers(rows))
        wanted = _rows_from(whole, rows.first_hidden)
        self._team.run(
            run_layers,
            self.shape.num_layers * PHASES_PER_LAYER + 1,
            self._model,
            KeysValues(keys=_bits(cache.keys), values=_bits(cache.values)),
            whole,
            wanted,
        )
        return torch.from_numpy(wanted.buffers.hidden)

    def logits(self, hidden: Tensor) -> Tensor:
        products = multiply_rows(self._weights.output, hidden.contiguous().numpy(), self._team)
        return torch.from_numpy(products)

    def _buffers(self, rows: Rows) -> Buffers:
        shape, layers, num_rows = self.shape, self._weights.layers, len(rows.ids)

        def products(part: AdaptedInt8) -> Floats:
            return np.zeros((num_rows + MAX_TILE_ROWS, part.matrices.num_padded), np.float32)

        parts = (layers.qkv, layers.o, layers.gate_up, layers.down)
        return Buffers(
            residual=self._embed(rows).float().numpy(),
            added=products(layers.o),
            int8=empty_rows(num_rows, max(part.matrices.num_groups for part in parts)),
            qkv=products(layers.qkv),
            mixed=np.empty((num_rows, shape.num_heads * shape.head_dim), np.float32),
            gate_up=products(layers.gate_up),
            hidden=np.empty((num_rows, shape.hidden), np.float32),
        )


def _rows_from(whole: RowsAndBuffers, first: int) -> RowsAndBuffers:
    """Return the rows from ``first`` on, in the same memory; ``start`` stays as it is."""
    rows, buffers = whole
    return RowsAndBuffers(
        rows._replace(
            num_frozen=max(0, rows.num_frozen - first),
            visible=rows.visible[first:],
            cosine=rows.cosine[first:],
            sine=rows.sine[first:],
        ),
        Buffers(
            residual=buffers.residual[first:],
            added=buffers.added[first:],
            int8=buffers.int8._replace(num_rows=buffers.int8.num_rows - first),
            qkv=buffers.qkv[first:],
            mixed=buffers.mixed[first:],
            gate_up=buffers.gate_up[first:],
            hidden=buffers.hidden[first:],
        ),
    )


def _bits(tensor: Tensor) -> object:
    """Return a bfloat16 tensor's memory as an array of uint16."""
    return tensor.view(torch.uint16).numpy()
