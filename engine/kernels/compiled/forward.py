"""One forward pass over all layers, and one over the output matrix: what every thread runs.

A pass is a sequence of phases (work_units.py), which are numbered through because each has its own
counters.
"""

import numpy as np

from intarsia.engine.kernels.compiled.attention import layer_of, run_attention, write_kv
from intarsia.engine.kernels.compiled.int8_product import multiply
from intarsia.engine.kernels.compiled.intrinsics import kernel
from intarsia.engine.kernels.compiled.prepare_rows import copy_rows, finish_rows, prepare_rows
from intarsia.engine.kernels.compiled.work_units import phase_of
from intarsia.engine.kernels.operands import (
    PHASES_PER_LAYER,
    GateSource,
    HeadNorms,
    Int8Matrix,
    Int8Rows,
    NormSource,
    Product,
)

_FIRST = np.int64(0)  # a bare 0 has a type of its own: numba would compile the callees twice


@kernel
def run_layers(work, model, cache, whole, wanted):
    """Turn embeddings into hidden states, and write the rows' keys and values into the cache.

    Takes Work, Model, KeysValues, and RowsAndBuffers of all rows and of the last ones, which need
    hidden states. Of the others the last layer writes only keys and values.
    """
    layers = model.layers
    last = layers.attn_norms.shape[0] - 1
    for layer in range(last):
        run_keys_values(work, model, cache, whole, layer)
        run_attention_block(work, model, cache, whole, layer)
        run_feed_forward(work, model, whole, layer)
    run_keys_values(work, model, cache, whole, last)
    buffers = wanted.buffers
    if buffers.hidden.shape[0] == 0:
        return
    run_attention_block(work, model, cache, wanted, last)
    run_feed_forward(work, model, wanted, last)
    source = NormSource(buffers.residual, buffers.added, layers.last_norm, model.shape.norm_eps)
    finish_rows(phase_of(work, (last + 1) * PHASES_PER_LAYER), source, buffers.hidden)


@kernel
def run_output(work, output, hidden, rows, logits):
    """Write the logits (rows, padded vocab) of hidden states.

    Takes Work, Int8Matrices, float32 rows, memory for them as Int8Rows, and a float32 array.
    """
    product = product_of(output, _FIRST, rows)
    run_product(work, _FIRST, hidden, product, logits)


@kernel
def run_keys_values(work, model, cache, part, layer):
    """Begin a layer: norm and qkv; keys and values are written into the cache.

    The rows before the layer are copied if a drafter reads them there.
    """
    rows, buffers = part.rows, part.buffers
    layers, shape, first = model.layers, model.shape, layer * PHASES_PER_LAYER
    source = NormSource(buffers.residual, buffers.added, layers.attn_norms[layer], shape.norm_eps)
    qkv = product_of(layers.qkv, layer, buffers.int8)
    run_product(work, first, source, qkv, buffers.qkv)
    norms = HeadNorms(layers.q_norms[layer], layers.k_norms[layer], shape.norm_eps)
    write_kv(phase_of(work, first + 2), buffers.qkv, rows, shape, norms, layer_of(cache, layer))
    for tap in range(model.taps.shape[0]):
        if model.taps[tap] == layer:
            copy_rows(phase_of(work, first + 10), buffers.residual, buffers.taps[tap])


@kernel
def run_attention_block(work, model, cache, part, layer):
    """Run the attention of a layer over the cache, and its output matrix."""
    rows, buffers = part.rows, part.buffers
    layers, shape, first = model.layers, model.shape, layer * PHASES_PER_LAYER
    own = layer_of(cache, layer)
    run_attention(phase_of(work, first + 3), buffers.qkv, rows.visible, shape, own, buffers.mixed)
    o = product_of(layers.o, layer, buffers.int8)
    run_product(work, first + 4, buffers.mixed, o, buffers.added)


@kernel
def run_feed_forward(work, model, part, layer):
    """Run the second half of a layer: norm, gate and up, and down."""
    buffers = part.buffers
    layers, shape, first = model.layers, model.shape, layer * PHASES_PER_LAYER + 6
    source = NormSource(buffers.residual, buffers.added, layers.mlp_norms[layer], shape.norm_eps)
    gate_up = product_of(layers.gate_up, layer, buffers.int8)
    run_product(work, first, source, gate_up, buffers.gate_up)
    gated = GateSource(buffers.gate_up, shape.intermediate)
    down = product_of(layers.down, layer, buffers.int8)
    run_product(work, first + 2, gated, down, buffers.added)


@kernel
def product_of(matrices, layer, room):
    """Return the operands of one layer's product; ``room`` is memory for int8 rows of any part."""
    return Product(
        Int8Rows(room.quantized, room.scales, room.zeros, room.num_rows, matrices.num_groups),
        Int8Matrix(matrices.panels[layer], matrices.column_scales[layer], matrices.biases[layer]),
    )


@kernel
def run_product(work, first_phase, source, product, y):
    """Quantize rows and multiply them, in two phases."""
    phase = phase_of(work, first_phase)
    prepare_rows(phase, source, product.rows)
    multiply(phase_of(work, first_phase + 1), product, y)
