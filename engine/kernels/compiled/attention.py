"""Attention in float32 over the bfloat16 KV cache, and what writes it: phases of threads."""

import numpy as np
from numba import carray

from intarsia.engine.kernels.compiled import microkernels
from intarsia.engine.kernels.compiled.intrinsics import (
    allocate_floats,
    bits_of_float,
    exp,
    float_at,
    free,
    kernel,
    larger,
    plain_kernel,
)
from intarsia.engine.kernels.compiled.prepare_rows import ROWS_PER_UNIT, norm
from intarsia.engine.kernels.compiled.work_units import claim, done, wait_for
from intarsia.engine.kernels.operands import HeadBlock, KeysValues, Strided
from intarsia.engine.kernels.processor import num_lanes

_ROWS_AT_ONCE = 8
_KEYS_AT_ONCE = 64  # a softmax sums over a multiple of this: several vectors
_HIDDEN = np.float32(-1e30)  # the score of a key that a row does not see


@plain_kernel
def layer_of(cache, layer):
    """Return the keys and values of one layer."""
    return KeysValues(cache.keys[layer], cache.values[layer])


@kernel
def write_kv(phase, qkv, rows, shape, norms, cache):
    """Rotate queries and keys in ``qkv``; write keys and values into the cache after the context.

    Queries are scaled by 1/√head_dim too. ``cache``: keys (kv heads, panels, head_dim, lanes),
    values (kv heads, capacity, head_dim).
    """
    num_rows = rows.cosine.shape[0]
    num_units = (num_rows + ROWS_PER_UNIT - 1) // ROWS_PER_UNIT
    unit = claim(phase)
    while unit < num_units:
        for row in range(unit * ROWS_PER_UNIT, min((unit + 1) * ROWS_PER_UNIT, num_rows)):
            rotate_heads(qkv[row], rows.cosine[row], rows.sine[row], shape, norms)
            write_row(qkv[row], rows.start + row, shape, cache)
        done(phase)
        unit = claim(phase)
    wait_for(phase, num_units)


@kernel
def rotate_heads(qkv, cosine, sine, shape, norms):
    """Normalize and rotate one row's queries and keys, in place; scale the queries."""
    dim = shape.head_dim
    scale = np.float32(1) / np.sqrt(np.float32(dim))
    for head in range(shape.num_heads + shape.num_kv_heads):
        own = qkv[head * dim : (head + 1) * dim]
        if head < shape.num_heads and norms.query.shape[0]:
            norm(own, norms.query, norms.eps, own)
        if head >= shape.num_heads and norms.key.shape[0]:
            norm(own, norms.key, norms.eps, own)
        rotate(own, cosine, sine)
        if head < shape.num_heads:
            for k in range(dim):
                own[k] *= scale


@kernel
def rotate(head, cosine, sine):
    """Rotate one head by its row's position, in place (rotary.py)."""
    half = cosine.shape[0]
    left, right = head[:half], head[half:]
    for k in range(half):
        first, second = left[k], right[k]
        left[k] = first * cosine[k] - second * sine[k]
        right[k] = second * cosine[k] + first * sine[k]


@kernel
def write_row(qkv, position, shape, cache):
    """Write one row's keys and values to a position of the cache."""
    num_heads, num_kv, dim, lanes = shape.num_heads, shape.num_kv_heads, shape.head_dim, num_lanes()
    panel, lane = position // lanes, position % lanes
    for head in range(num_kv):
        key = qkv[(num_heads + head) * dim :]
        value = qkv[(num_heads + num_kv + head) * dim :]
        target = cache.values[head, position]
        for k in range(dim):
            target[k] = to_bfloat16(value[k])
        for k in range(dim):
            cache.keys[head, panel, k, lane] = to_bfloat16(key[k])


@plain_kernel
def to_bfloat16(number):
    """Return the bits of the nearest bfloat16: a float32's upper 16, rounded to even."""
    bits = bits_of_float(number)
    return np.uint16(
        ((bits + np.int32(0x7FFF) + ((bits >> np.int32(16)) & np.int32(1))) >> np.int32(16))
        & np.int32(0xFFFF)
    )


@kernel
def run_attention(phase, qkv, visible, shape, cache, mixed):
    """Write the output of attention into ``mixed`` (rows, heads · head_dim).

    A unit is one key-value head, with all query heads of its group, and some rows.
    """
    num_rows, num_kv, dim = mixed.shape[0], shape.num_kv_heads, shape.head_dim
    group = shape.num_heads // num_kv
    at_once = max(1, min(_ROWS_AT_ONCE, num_rows * num_kv // (2 * phase.num_threads)))
    num_units = (num_rows + at_once - 1) // at_once * num_kv
    padded = (visible.shape[1] + _KEYS_AT_ONCE - 1) // _KEYS_AT_ONCE * _KEYS_AT_ONCE
    num_queries = at_once * group
    memory = allocate_floats(num_queries * (2 * dim + padded))
    queries = carray(float_at(memory, 0), (num_queries, dim))
    outputs = carray(float_at(memory, num_queries * dim), (num_queries, dim))
    scores = carray(float_at(memory, 2 * num_queries * dim), (num_queries, padded))
    unit = claim(phase)
    while unit < num_units:
        first = unit // num_kv * at_once
        block = HeadBlock(unit % num_kv, group, first, min(first + at_once, num_rows))
        read_queries(qkv, block, queries)
        attend(queries, visible, block, cache, scores, outputs)
        write_outputs(outputs, block, mixed)
        done(phase)
        unit = claim(phase)
    free(memory)
    wait_for(phase, num_units)


@kernel
def read_queries(qkv, block, queries):
    """Copy the queries of a block together: a row's query heads, then the next row's."""
    dim = queries.shape[1]
    for row in range(block.first, block.end):
        for member in range(block.group):
            own = qkv[row, (block.kv_head * block.group + member) * dim :]
            target = queries[(row - block.first) * block.group + member]
            for k in range(dim):
                target[k] = own[k]


@kernel
def attend(queries, visible, block, cache, scores, outputs):
    """Write softmax(queries · keys) · values; ``scores`` is memory for the first product."""
    head, dim, padded, lanes = block.kv_head, queries.shape[1], scores.shape[1], num_lanes()
    num_keys = num_visible(visible, block.first, block.end)
    num_queries = (block.end - block.first) * block.group
    for key in range(0, num_keys, lanes):
        multiply_floats(
            Strided(queries.ctypes.data, dim),
            num_queries,
            Strided(cache.keys[head, key // lanes].ctypes.data, lanes),
            dim,
            Strided(scores.ctypes.data + 4 * key, padded),
        )
    for query in range(num_queries):
        softmax_row(scores[query], visible[block.first + query // block.group], num_keys)
    for k in range(0, dim, lanes):
        multiply_floats(
            Strided(scores.ctypes.data, padded),
            num_queries,
            Strided(cache.values[head].ctypes.data + 2 * k, dim),
            num_keys,
            Strided(outputs.ctypes.data + 4 * k, dim),
        )


@kernel
def write_outputs(outputs, block, mixed):
    """Copy the outputs of a block to their rows and heads."""
    dim = outputs.shape[1]
    for row in range(block.first, block.end):
        for member in range(block.group):
            own = outputs[(row - block.first) * block.group + member]
            target = mixed[row, (block.kv_head * block.group + member) * dim :]
            for k in range(dim):
                target[k] = own[k]


@plain_kernel
def multiply_floats(x, num_rows, b, count, y):
    """Write x (rows, count) times b (count, lanes) to y."""
    row = 0
    while row < num_rows:
        remaining = num_rows - row
        source = Strided(x.address + 4 * row * x.stride, x.stride)
        target = Strided(y.address + 4 * row * y.stride, y.stride)
        if remaining >= 8:
            microkernels.float_tile_8(source, b, count, target)
            row += 8
        elif remaining >= 4:
            microkernels.float_tile_4(source, b, count, target)
            row += 4
        else:
            microkernels.float_tile_1(source, b, count, target)
            row += 1


@plain_kernel
def num_visible(visible, first, end):
    """Return how many keys the rows must read: up to the last one that any of the rows sees."""
    most = 0
    for row in range(first, end):
        num_keys = visible.shape[1]
        while num_keys > most and not visible[row, num_keys - 1]:
            num_keys -= 1
        most = max(most, num_keys)
    return most


@kernel
def softmax_row(scores, visible, num_keys):
    """Replace a row's scores by their softmax over the keys that it sees, in place.

    ``scores`` is longer than ``num_keys``, up to a fixed multiple of vectors. So the order of the
    sum does not depend on how many keys other rows see: a row's result is the same in any batch.
    """
    largest = _HIDDEN
    for key in range(num_keys):
        score = scores[key] if visible[key] else _HIDDEN
        scores[key] = score
        largest = larger(largest, score)
    for key in range(num_keys, scores.shape[0]):
        scores[key] = _HIDDEN
    total = np.float32(0)
    for key in range(scores.shape[0]):
        weight = exp(scores[key] - largest) if scores[key] > _HIDDEN else np.float32(0)
        scores[key] = weight
        total += weight
    inverse = np.float32(1) / total
    for key in range(num_keys):
        scores[key] *= inverse
