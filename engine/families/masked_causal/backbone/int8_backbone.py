"""A causal backbone with int8 weights, run by compiled kernels (engine/kernels) on the CPU.

Each row is multiplied by itself, so a row's result does not depend on the other rows of the pass:
speculative and autoregressive decoding give the same text to the bit.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from intarsia.engine.arrays import Array, floats
from intarsia.engine.cache.folder import cache_folder
from intarsia.engine.families.masked_causal.backbone.drafter import (
    Drafter,
    Drafting,
    joined_taps,
    read_drafter,
)
from intarsia.engine.families.masked_causal.backbone.int8_weights import (
    INT8_FORMAT,
    Int8Weights,
    num_threads,
    quantize_output,
    quantize_stack,
    read_int8,
)
from intarsia.engine.families.masked_causal.backbone.interface import (
    CausalBackbone,
    LoadedBackbone,
    Rows,
)
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.rotary import inverse_frequencies, rotation
from intarsia.engine.families.masked_causal.backbone.rows import frozen_rows
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.families.masked_causal.backbone.tuning import tune
from intarsia.engine.families.masked_causal.backbone.weights import (
    BackboneWeights,
    read_weights,
)
from intarsia.engine.families.memory import free_memory, require_memory
from intarsia.engine.kernels.compile_cache import keep_compiled, run_compiled, why_not_kept
from intarsia.engine.kernels.int8_matrix import picked_rows
from intarsia.engine.kernels.int8_support import (
    can_multiply_int8,
    empty_rows,
    multiply_rows,
    quantize_matrix,
)
from intarsia.engine.kernels.native_kernel import run_layers
from intarsia.engine.kernels.operands import (
    MAX_TILE_ROWS,
    PHASES_PER_LAYER,
    Buffers,
    Floats,
    Int8Matrices,
    KeysValues,
    Model,
    PassRows,
    RowsAndBuffers,
    Shape,
)
from intarsia.engine.kernels.processor import dot_product, num_lanes
from intarsia.engine.kernels.thread_team import ThreadTeam
from intarsia.engine.model_store.locate import ModelFolder


def is_int8_supported() -> bool:
    """Return whether this processor runs int8 weights; the first call may compile for seconds."""
    keep_compiled(cache_folder() / "kernels")
    return can_multiply_int8()


_CHUNK = 64  # tokens; with 126 a context is read 6 % faster, but a cancel waits for 0.2 s


class Int8Backbone(CausalBackbone):
    """Weights, and the threads that run passes over them."""

    def __init__(
        self,
        shape: BackboneShape,
        weights: Int8Weights,
        *,
        num_threads: int,
        drafter: Drafter | None = None,
    ) -> None:
        super().__init__(shape, weights.embeddings)
        self._weights = weights
        self.team = ThreadTeam(num_threads)
        self._frequencies = inverse_frequencies(shape)
        sizes = Shape(
            num_heads=shape.num_heads,
            num_kv_heads=shape.num_kv_heads,
            head_dim=shape.head_dim,
            intermediate=shape.intermediate,
            norm_eps=np.float32(shape.norm_eps),
        )
        taps: tuple[int, ...] = ()
        if drafter is not None:
            products = _DraftProducts(self, weights.output, drafter, sizes)
            self.drafting = Drafting(drafter, weights.embeddings, shape, products)
            taps = drafter.taps
        self._model = Model(weights.layers, sizes, np.array(taps, np.int64))

    @property
    def chunk_tokens(self) -> int:
        return _CHUNK

    @property
    def row_cost(self) -> float:
        # As measured on two cores: without dot products of bytes, products are the longer part.
        return 0.09 if dot_product().intrinsic else 0.3

    def new_cache(self) -> KvCache:
        return KvCache(
            self.shape,
            partial(np.empty, dtype=np.uint16),  # bfloat16
            key_lanes=num_lanes(),
            num_draft_layers=self.num_draft_layers,
        )

    def prepare(self) -> None:
        """Compile the kernels, or load those that an earlier start compiled."""

        def run() -> None:
            cache = self.new_cache()
            self.logits(self.forward(frozen_rows([0], start=0), cache))
            if self.drafting is not None:
                cache.commit([0])
                cache.keep_last_hidden(np.zeros(self.shape.hidden, np.float32))
                self.drafting.draft(0, cache, 1)

        run_compiled(run)

    def forward(self, rows: Rows, cache: KvCache) -> Floats:
        x = np.array(floats(self.embeddings.embed[rows.ids]))  # a pass computes in its place
        wanted = self.run_model(self._model, x, rows, cache, first_layer=0)
        if self.drafting is not None:
            self.drafting.read(wanted.taps.transpose(1, 0, 2), rows.positions, cache)
        hidden: Floats = wanted.hidden
        return hidden

    def run_model(
        self, model: Model, x: Floats, rows: Rows, cache: KvCache, *, first_layer: int
    ) -> Buffers:
        """Run layers over rows (rows, hidden); theirs in the cache begin at ``first_layer``.

        ``hidden`` of the result has the rows that need hidden states, ``taps`` all.
        """
        cache.reserve(len(rows.ids))
        cosine, sine = rotation(rows.positions, self._frequencies)
        pass_rows = PassRows(start=len(cache), visible=rows.visible, cosine=cosine, sine=sine)
        whole = RowsAndBuffers(pass_rows, _buffers(model, x))
        wanted = _rows_from(whole, rows.first_hidden)
        self.team.run(
            run_layers,
            len(model.layers.attn_norms) * PHASES_PER_LAYER + 1,
            model,
            KeysValues(cache.keys[first_layer:], cache.values[first_layer:]),
            whole,
            wanted,
        )
        return wanted.buffers

    def logits(self, hidden: Floats) -> Floats:
        return multiply_rows(self._weights.output, np.ascontiguousarray(hidden), self.team)


def load_int8(
    folder: ModelFolder,
    shape: BackboneShape,
    *,
    drafter: Path | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> LoadedBackbone:
    """Read a backbone; tune and quantize it, unless that was done at its conversion.

    ``meanwhile`` runs while threads read the files. Raises ModelError.
    """
    stored = sum(path.stat().st_size for path in folder.weights)  # 16 bits a number
    is_int8 = folder.format == INT8_FORMAT
    is_copied = bool(folder.tunings) or not folder.is_fused
    needed = stored if is_int8 else stored // 2 + is_copied * stored
    require_memory(needed, free_memory(), folder.name)
    with ThreadPoolExecutor(1) as beside:
        reading = None if drafter is None else beside.submit(read_drafter, drafter, shape)
        if is_int8:
            weights = read_int8(folder.weights[0], shape, meanwhile)
        else:
            meanwhile()
            weights = _quantized(folder, shape)
    backbone = Int8Backbone(
        shape,
        weights,
        num_threads=num_threads(),
        drafter=None if reading is None else reading.result(),
    )
    reason = why_not_kept()
    notes = () if reason is None else (f"its code is compiled at each start: {reason}",)
    return LoadedBackbone(backbone=backbone, device="cpu", format_name="int8", notes=notes)


def _quantized(folder: ModelFolder, shape: BackboneShape) -> Int8Weights:
    weights = read_weights(folder.weights, shape, is_fused=folder.is_fused)
    for tuning in folder.tunings:
        weights = tune(weights, shape, tuning)
    # Mapped a second time, only the rows that are looked up come into memory.
    embeddings = read_weights(folder.weights, shape, is_fused=folder.is_fused).embeddings
    return replace(quantize_weights(weights), embeddings=embeddings)


def quantize_weights(weights: BackboneWeights) -> Int8Weights:
    """Return the weights in int8; only the embeddings still refer to the given ones."""
    return Int8Weights(
        embeddings=weights.embeddings,
        output=quantize_output(partial(_tensor_of, weights)),
        layers=quantize_stack(partial(_tensor_of, weights), len(weights.layers)),
    )


def _tensor_of(weights: BackboneWeights | Drafter, name: str) -> Array | None:
    """Return a tensor by its name in our own layout, such as ``layers.3.qkv``."""
    *layer, part = name.split(".")
    found: Array | None = getattr(weights.layers[int(layer[1])] if layer else weights, part)
    return found


def _buffers(model: Model, x: Floats) -> Buffers:
    shape, layers, (num_rows, hidden) = model.shape, model.layers, x.shape

    def products(part: Int8Matrices) -> Floats:
        return np.zeros((num_rows + MAX_TILE_ROWS, part.num_padded), np.float32)

    parts = (layers.qkv, layers.o, layers.gate_up, layers.down)
    return Buffers(
        residual=x,
        added=products(layers.o),
        int8=empty_rows(num_rows, max(part.num_groups for part in parts)),
        qkv=products(layers.qkv),
        mixed=np.empty((num_rows, shape.num_heads * shape.head_dim), np.float32),
        gate_up=products(layers.gate_up),
        hidden=np.empty((num_rows, hidden), np.float32),
        taps=np.empty((len(model.taps), num_rows, hidden), np.float32),
    )


class _DraftProducts:
    """A drafter's products in int8."""

    def __init__(
        self, backbone: Int8Backbone, output: Int8Matrices, drafter: Drafter, sizes: Shape
    ) -> None:
        self._backbone = backbone
        self._first_layer = backbone.shape.num_layers
        self._context = quantize_matrix(drafter.context)
        self._output = picked_rows(output, drafter.vocabulary)
        stack = quantize_stack(partial(_tensor_of, drafter), len(drafter.layers))
        sizes = sizes._replace(intermediate=drafter.layers[0].down.shape[1])
        self._model = Model(stack, sizes, np.empty(0, np.int64))

    def read(self, states: Floats) -> Floats:
        return multiply_rows(self._context, joined_taps(states), self._backbone.team)

    def run(self, x: Floats, cache: KvCache) -> Floats:
        rows = frozen_rows([0] * len(x), start=len(cache))
        wanted = self._backbone.run_model(
            self._model, x, rows, cache, first_layer=self._first_layer
        )
        hidden: Floats = wanted.hidden
        return hidden

    def logits(self, hidden: Floats) -> Floats:
        return multiply_rows(self._output, np.ascontiguousarray(hidden), self._backbone.team)


def _rows_from(whole: RowsAndBuffers, first: int) -> RowsAndBuffers:
    """Return the rows from ``first`` on, in the same memory; ``start`` stays as it is."""
    rows, buffers = whole
    return RowsAndBuffers(
        rows._replace(
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
            taps=buffers.taps,  # of all rows: a part of them would be another type to compile for
        ),
    )
