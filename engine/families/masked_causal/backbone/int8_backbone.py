"""A causal backbone with int8 weights, run by compiled kernels (engine/kernels) on the CPU.

Each row is multiplied by itself, so a frozen row's result does not depend on the other rows of the
pass: speculative and autoregressive decoding give the same text to the bit. (Masks among the keys
do change how the sums of other masks are rounded, but masks only propose.)
"""

import numpy as np
import torch
from torch import Tensor

from intarsia.engine.families.masked_causal.backbone.int8_weights import Int8Weights
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone, Rows
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.rotary import inverse_frequencies, rotation
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.kernels.compile_cache import run_compiled
from intarsia.engine.kernels.forward import PHASES_PER_LAYER, run_layers
from intarsia.engine.kernels.int8_support import empty_rows, multiply_rows
from intarsia.engine.kernels.microkernels import MAX_TILE_ROWS
from intarsia.engine.kernels.operands import (
    AdaptedInt8,
    Buffers,
    Floats,
    KeysValues,
    Model,
    PassRows,
    RowsAndBuffers,
    Shape,
)
from intarsia.engine.kernels.threads import ThreadTeam
from intarsia.engine.kernels.vector_writer import num_lanes

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
    """Return the rows from ``first`` on, in the same memory.

    ``start`` still counts the tokens before all rows, and int8 rows are written from the first on.
    """
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
