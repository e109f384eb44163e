"""The values that kernels pass to each other: named tuples, because numba compiles them.

Each describes one operand of a forward pass through int8 weights: the rows, a matrix, the KV
cache. ``GROUP``, panels and lanes are explained in ``microkernels.py``.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np

Floats: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.float32]]
Bytes: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]


# -- sizes ---------------------------------------------------------------------------------------

GROUP = 64
"""Numbers of a row that share a scale. With 32 the products take an eighth longer."""

BLOCK = 32
BLOCK_BYTES = {"Q8_0": 34, "Q5_0": 22}
"""Numbers and bytes of a block in llama.cpp's formats."""

MAX_TILE_ROWS = 8
"""Rows of the largest tile: their sums stay in registers. The rows that remain take a tile of a
power of two, so int8 rows and their products need this many rows to spare."""

FEW_ROWS = 16
"""Up to here, blocks of panels were not faster."""

COUNTERS_PER_PHASE = 16
"""Units claimed and, a cache line further, units done; zeros at the start."""

PHASES_PER_LAYER = 11
OUTPUT_PHASES = 2


# -- how threads share a pass (work_units.py) ----------------------------------------------------


class Work(NamedTuple):
    """All phases of one call: what its threads share."""

    counters: Any  # (phases, COUNTERS_PER_PHASE) int64
    num_threads: int


class Phase(NamedTuple):
    """One phase."""

    counters: Any  # (COUNTERS_PER_PHASE,) int64
    num_threads: int


# -- int8 matrices and rows (int8_matrix.py) -----------------------------------------------------


class Int8Matrices(NamedTuple):
    """Matrices (out, in) of one size: the same part of every layer."""

    panels: Bytes  # (matrices, panels, bytes of a panel)
    column_scales: Floats  # (matrices, padded out)
    biases: Floats  # (matrices, padded out)
    num_out: int
    num_groups: int  # of one row that is multiplied

    @property
    def num_padded(self) -> int:
        """Numbers of a row of products: ``num_out`` rounded up to whole panels."""
        return int(self.column_scales.shape[1])


class Int8Matrix(NamedTuple):
    """One of ``Int8Matrices``."""

    panels: Bytes  # (panels, bytes of a panel)
    column_scales: Floats  # (padded out,)
    biases: Floats  # (padded out,)


class Int8Rows(NamedTuple):
    """Rows in int8 with one scale per group; the arrays have room for ``MAX_TILE_ROWS`` more."""

    quantized: Any  # (rows, at least groups · GROUP) int8
    scales: Any  # (rows · groups,) float32
    zeros: Any  # (rows · groups,) int32: where each group's sums begin
    num_rows: int
    num_groups: int


class Product(NamedTuple):
    """The operands of one matrix product: part of a layer, or the output matrix."""

    rows: Int8Rows
    matrix: Int8Matrix


# -- a forward pass (forward.py) -----------------------------------------------------------------


class LayerStack(NamedTuple):
    """The weights of all layers and the last norm; a norm that a model lacks is empty."""

    attn_norms: Floats  # (layers, hidden)
    mlp_norms: Floats  # (layers, hidden)
    q_norms: Floats  # (layers, head_dim)
    k_norms: Floats  # (layers, head_dim)
    last_norm: Floats  # (hidden,)
    qkv: Int8Matrices
    o: Int8Matrices
    gate_up: Int8Matrices
    down: Int8Matrices


class Shape(NamedTuple):
    """Sizes and constants of the model."""

    num_heads: int
    num_kv_heads: int
    head_dim: int
    intermediate: int
    norm_eps: Any  # float32


class Model(NamedTuple):
    """What a pass runs."""

    layers: LayerStack
    shape: Shape
    taps: Any  # (taps,) int64: after so many layers a drafter reads the rows


class PassRows(NamedTuple):
    """The rows of a pass, which follow ``start`` tokens of context."""

    start: int
    visible: Any  # (rows, start + rows) bool
    cosine: Any  # (rows, head_dim / 2) float32
    sine: Any  # (rows, head_dim / 2) float32


class KeysValues(NamedTuple):
    """The KV cache in bfloat16, of all layers or of one (without the first dimension)."""

    keys: Any  # (layers, kv heads, panels, head_dim, lanes) uint16
    values: Any  # (layers, kv heads, capacity, head_dim) uint16


class HeadNorms(NamedTuple):
    """The norms of one layer's queries and keys; empty where the model has none."""

    query: Floats  # (head_dim,)
    key: Floats  # (head_dim,)
    eps: Any  # float32


class HeadBlock(NamedTuple):
    """One key-value head with the query heads of its group, and some rows."""

    kv_head: int
    group: int  # query heads per key-value head
    first: int  # row
    end: int  # row


class Buffers(NamedTuple):
    """Memory of one pass. Arrays of products are padded as the matrix that writes them."""

    residual: Any  # (rows, hidden) float32: embeddings at the start
    added: Any  # (rows and spare, padded hidden): what the last part adds to it
    int8: Int8Rows
    qkv: Any  # (rows and spare, padded)
    mixed: Any  # (rows, heads · head_dim): the output of attention
    gate_up: Any  # (rows and spare, padded)
    hidden: Any  # (rows, hidden): the result
    taps: Any  # (taps, rows, hidden) float32: what a drafter reads


class RowsAndBuffers(NamedTuple):
    """All rows of a pass, or the last of these, with their memory."""

    rows: PassRows
    buffers: Buffers


# -- what rows are quantized from (prepare_rows.py) ----------------------------------------------


class NormSource(NamedTuple):
    """Rows to add to the residual stream and to normalize."""

    residual: Any  # (rows, hidden) float32
    added: Any  # (rows and spare, padded hidden) float32
    weight: Floats  # (hidden,)
    eps: Any  # float32


class GateSource(NamedTuple):
    """Rows of gate and up next to each other, each ``width`` numbers."""

    gate_up: Any  # (rows and spare, padded) float32
    width: int


# -- addresses for the microkernels (microkernels.py) --------------------------------------------


class Strided(NamedTuple):
    """A matrix in memory; the stride counts numbers."""

    address: int
    stride: int


class BlockAt(NamedTuple):
    """Adjacent panels of an int8 matrix in memory; all but the sizes are addresses."""

    address: int
    panel_bytes: int
    column_scales: int
    biases: int
    ahead: int  # of what to fetch ahead
    lines_ahead: int  # cache lines to fetch with each group


class RowsAt(NamedTuple):
    """Int8 rows in memory, from the first one of a tile on."""

    address: int
    stride: int  # bytes
    scales: int  # address
    zeros: int  # address
    num_groups: int  # also the stride of scales and of zeros
