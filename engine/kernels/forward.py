"""One pass over all layers, and one over the output matrix: what every thread of a team runs.

Arguments come in tuples, as byte_backbone.py lays them. Phases are numbered through, for each has
its own counters.
"""

import numpy as np
from numba import njit

from intarsia.engine.kernels import CAN_KEEP
from intarsia.engine.kernels.attention import attend, place
from intarsia.engine.kernels.int8_matrix import multiply
from intarsia.engine.kernels.prepare_rows import (
    finish_rows,
    prepare_gated,
    prepare_norm,
    prepare_rows,
)

PHASES_A_LAYER = 10


@njit(nogil=True, cache=CAN_KEEP, fastmath=True, error_model="numpy")
def run_layers(shared, sizes, rows, norms, qkv, o, gate_up, down, cache, buffers):
    """Turn embeddings into hidden states, and lay the rows' keys and values into the cache."""
    counters, threads = shared
    start, frozen, heads, kv, dim, width, eps = sizes
    visible, cosine, sine = rows
    attn_norms, mlp_norms, q_norms, k_norms, last_norm = norms
    keys, values = cache
    x, normed, bytes_, scales, zeros, qkv_rows, mixed, added, both = buffers
    num_rows = x.shape[0]
    for i in range(attn_norms.shape[0]):
        phase = i * PHASES_A_LAYER
        matrix, columns, lasts, biases, inner, inner_columns, groups = qkv
        prepare_norm(
            counters, phase, x, added, attn_norms[i], eps,
            frozen, inner[i], inner_columns[i], groups, bytes_, scales, zeros,
        )  # fmt: skip
        multiply(
            counters, phase + 1, threads, num_rows, matrix[i], columns[i], lasts[i], biases[i],
            bytes_, scales, zeros, qkv_rows,
        )  # fmt: skip
        place(
            counters, phase + 2, num_rows, qkv_rows, start, heads, kv, dim,
            q_norms[i], k_norms[i], eps, cosine, sine, keys[i], values[i],
        )  # fmt: skip
        attend(
            counters, phase + 3, threads, qkv_rows, visible, heads, kv, dim, keys[i], values[i],
            mixed,
        )  # fmt: skip
        matrix, columns, lasts, biases, inner, inner_columns, groups = o
        prepare_rows(
            counters, phase + 4, num_rows, mixed,
            frozen, inner[i], inner_columns[i], groups, bytes_, scales, zeros,
        )  # fmt: skip
        multiply(
            counters, phase + 5, threads, num_rows, matrix[i], columns[i], lasts[i], biases[i],
            bytes_, scales, zeros, added,
        )  # fmt: skip
        matrix, columns, lasts, biases, inner, inner_columns, groups = gate_up
        prepare_norm(
            counters, phase + 6, x, added, mlp_norms[i], eps,
            frozen, inner[i], inner_columns[i], groups, bytes_, scales, zeros,
        )  # fmt: skip
        multiply(
            counters, phase + 7, threads, num_rows, matrix[i], columns[i], lasts[i], biases[i],
            bytes_, scales, zeros, both,
        )  # fmt: skip
        matrix, columns, lasts, biases, inner, inner_columns, groups = down
        prepare_gated(
            counters, phase + 8, num_rows, both, width,
            frozen, inner[i], inner_columns[i], groups, bytes_, scales, zeros,
        )  # fmt: skip
        multiply(
            counters, phase + 9, threads, num_rows, matrix[i], columns[i], lasts[i], biases[i],
            bytes_, scales, zeros, added,
        )  # fmt: skip
    finish_rows(counters, attn_norms.shape[0] * PHASES_A_LAYER, x, added, last_norm, eps, normed)


@njit(nogil=True, cache=CAN_KEEP, fastmath=True, error_model="numpy")
def run_output(shared, output, x, bytes_, scales, zeros, logits):
    """Write logits (rows, padded vocab) of hidden states."""
    counters, threads = shared
    matrix, columns, lasts, biases, inner, inner_columns, groups = output
    num_rows = x.shape[0]
    prepare_rows(
        counters, np.int64(0), num_rows, x,
        num_rows, inner[0], inner_columns[0], groups, bytes_, scales, zeros,
    )  # fmt: skip
    multiply(
        counters, np.int64(1), threads, num_rows, matrix[0], columns[0], lasts[0], biases[0],
        bytes_, scales, zeros, logits,
    )  # fmt: skip
