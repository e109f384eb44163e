"""One forward pass over all layers, and one over the output matrix: what every thread runs.

A pass is a sequence of phases (work_units.py), which are numbered through because each has its own
counters.
"""

import numpy as np
from numba import njit

from intarsia.engine.kernels.attention import layer_of, run_attention, write_kv
from intarsia.engine.kernels.int8_matrix import matrix_of
from intarsia.engine.kernels.int8_product import multiply
from intarsia.engine.kernels.operands import (
    Adapter,
    GateSource,
    HeadNorms,
    Int8Rows,
    NormSource,
    Product,
)
from intarsia.engine.kernels.prepare_rows import finish_rows, prepare_rows
from intarsia.engine.kernels.work_units import phase_of

PHASES_PER_LAYER = 10
OUTPUT_PHASES = 2
_FIRST = np.int64(0)  # a bare 0 has a type of its own: numba would compile the callees twice


@njit(nogil=True, fastmath=True, error_model="numpy")
def run_layers(work, model, rows, cache, buffers):
    """Turn embeddings into hidden states, and write the rows' keys and values into the cache.

    Takes Work, Model, PassRows, KeysValues and Buffers.
    """
    layers = model.layers
    num_layers = layers.attn_norms.shape[0]
    for layer in range(num_layers):
        run_attention_block(work, model, rows, cache, buffers, layer)
        run_feed_forward(work, model, rows, buffers, layer)
    source = NormSource(buffers.residual, buffers.added, layers.last_norm, model.shape.norm_eps)
    finish_rows(phase_of(work, num_layers * PHASES_PER_LAYER), source, buffers.hidden)


@njit(nogil=True, fastmath=True, error_model="numpy")
def run_output(work, output, hidden, rows, logits):
    """Write the logits (rows, padded vocab) of hidden states.

    Takes Work, AdaptedInt8, float32 rows, memory for them as Int8Rows, and a float32 array.
    """
    product = product_of(output, _FIRST, rows.num_rows, rows)
    run_product(work, _FIRST, hidden, product, logits)


@njit(fastmath=True, error_model="numpy")
def run_attention_block(work, model, rows, cache, buffers, layer):
    """Run the first half of a layer: norm, qkv, attention and its output matrix."""
    layers, shape, first = model.layers, model.shape, layer * PHASES_PER_LAYER
    source = NormSource(buffers.residual, buffers.added, layers.attn_norms[layer], shape.norm_eps)
    qkv = product_of(layers.qkv, layer, rows.num_frozen, buffers.int8)
    run_product(work, first, source, qkv, buffers.qkv)
    norms = HeadNorms(layers.q_norms[layer], layers.k_norms[layer], shape.norm_eps)
    own = layer_of(cache, layer)
    write_kv(phase_of(work, first + 2), buffers.qkv, rows, shape, norms, own)
    run_attention(phase_of(work, first + 3), buffers.qkv, rows.visible, shape, own, buffers.mixed)
    o = product_of(layers.o, layer, rows.num_frozen, buffers.int8)
    run_product(work, first + 4, buffers.mixed, o, buffers.added)


@njit(fastmath=True, error_model="numpy")
def run_feed_forward(work, model, rows, buffers, layer):
    """Run the second half of a layer: norm, gate and up, and down."""
    layers, shape, first = model.layers, model.shape, layer * PHASES_PER_LAYER + 6
    source = NormSource(buffers.residual, buffers.added, layers.mlp_norms[layer], shape.norm_eps)
    gate_up = product_of(layers.gate_up, layer, rows.num_frozen, buffers.int8)
    run_product(work, first, source, gate_up, buffers.gate_up)
    gated = GateSource(buffers.gate_up, shape.intermediate)
    down = product_of(layers.down, layer, rows.num_frozen, buffers.int8)
    run_product(work, first + 2, gated, down, buffers.added)


@njit(fastmath=True, error_model="numpy")
def product_of(part, layer, num_frozen, room):
    """Return the operands of one layer's product; ``room`` is memory for int8 rows of any part."""
    num_groups = part.matrices.num_groups
    return Product(
        Int8Rows(room.quantized, room.scales, room.zeros, room.num_rows, num_groups),
        Adapter(matrix_of(part.down, layer), num_frozen),
        matrix_of(part.matrices, layer),
    )


@njit(fastmath=True, error_model="numpy")
def run_product(work, first_phase, source, product, y):
    """Quantize rows and multiply them, in two phases."""
    phase = phase_of(work, first_phase)
    prepare_rows(phase, source, product.adapter, product.rows)
    multiply(phase_of(work, first_phase + 1), product, y)
