"""Attention over the KV cache, and what writes to it: phases that threads share.

Queries, keys and scores are float32; the cache holds bfloat16.
"""

import numpy as np
from numba import njit

from intarsia.engine.kernels import microkernels
from intarsia.engine.kernels.intrinsics import bits_of_float, exp
from intarsia.engine.kernels.microkernels import LANES
from intarsia.engine.kernels.prepare_rows import ROWS_AT_ONCE, norm
from intarsia.engine.kernels.work_units import finish, take, wait

_QUERIES_AT_ONCE = 8  # rows
_KEYS_AT_ONCE = 64  # of a softmax's sum: several vectors
_NOTHING = np.float32(-1e30)  # a score that no exponential shows


@njit(fastmath=True, error_model="numpy")
def turn(head, cosine, sine):
    """Rotate one head by its row's position, in place (rotary.py)."""
    half = cosine.shape[0]
    left, right = head[:half], head[half:]
    for k in range(half):
        first, second = left[k], right[k]
        left[k] = first * cosine[k] - second * sine[k]
        right[k] = second * cosine[k] + first * sine[k]


@njit
def as_half(number):
    """Return the upper 16 bits of a float32, rounded to even: a bfloat16."""
    bits = bits_of_float(number)
    return np.uint16(
        ((bits + np.int32(0x7FFF) + ((bits >> np.int32(16)) & np.int32(1))) >> np.int32(16))
        & np.int32(0xFFFF)
    )


@njit(fastmath=True, error_model="numpy")
def place(
    counters,
    phase,
    num_rows,
    qkv,
    start,
    num_heads,
    num_kv,
    head_dim,
    q_norm,
    k_norm,
    eps,
    cosine,
    sine,
    keys,
    values,
):
    """Rotate queries and keys; lay keys and values into the cache behind ``start`` tokens, as
    bfloat16. keys (kv heads, panels, head_dim, LANES), values (kv heads, capacity, head_dim)."""
    num_units = (num_rows + ROWS_AT_ONCE - 1) // ROWS_AT_ONCE
    shrink = np.float32(1) / np.sqrt(np.float32(head_dim))
    unit = take(counters, phase)
    while unit < num_units:
        for row in range(unit * ROWS_AT_ONCE, min((unit + 1) * ROWS_AT_ONCE, num_rows)):
            for head in range(num_heads + num_kv):
                own = qkv[row, head * head_dim : (head + 1) * head_dim]
                if head < num_heads and q_norm.shape[0]:
                    norm(own, q_norm, eps, own)
                if head >= num_heads and k_norm.shape[0]:
                    norm(own, k_norm, eps, own)
                turn(own, cosine[row], sine[row])
                if head < num_heads:
                    for k in range(head_dim):
                        own[k] *= shrink
            for head in range(num_kv):
                key = qkv[row, (num_heads + head) * head_dim :]
                value = qkv[row, (num_heads + num_kv + head) * head_dim :]
                to = values[head, start + row]
                for k in range(head_dim):
                    to[k] = as_half(value[k])
                panel, lane = (start + row) // LANES, (start + row) % LANES
                for k in range(head_dim):
                    keys[head, panel, k, lane] = as_half(key[k])
        finish(counters, phase)
        unit = take(counters, phase)
    wait(counters, phase, num_units)


@njit
def float_products(x, x_stride, num_rows, b, b_stride, count, y, y_stride):
    """Write (rows, count) times (count, lanes); x, b and y are addresses, strides count numbers."""
    row = 0
    while row < num_rows:
        left = num_rows - row
        a, to = x + 4 * row * x_stride, y + 4 * row * y_stride
        if left >= 8:
            microkernels.float_tile_8(a, x_stride, b, b_stride, count, to, y_stride)
            row += 8
        elif left >= 4:
            microkernels.float_tile_4(a, x_stride, b, b_stride, count, to, y_stride)
            row += 4
        else:
            microkernels.float_tile_1(a, x_stride, b, b_stride, count, to, y_stride)
            row += 1


@njit
def num_seen(visible, first, end):
    """Return how many keys the rows have to look at: up to the last that one of them sees."""
    most = 0
    for row in range(first, end):
        at = visible.shape[1]
        while at > most and not visible[row, at - 1]:
            at -= 1
        most = max(most, at)
    return most


@njit(fastmath=True, error_model="numpy")
def soften(scores, visible, num_keys):
    """Turn a row's scores into shares of what it sees (softmax), in place.

    ``scores`` is longer than ``num_keys``, by a whole number of vectors in all: so its sum is added
    up in one order however many keys others see, and a row comes out the same in any company.
    """
    most = _NOTHING
    for key in range(num_keys):
        score = scores[key] if visible[key] else _NOTHING
        scores[key] = score
        most = max(most, score)
    for key in range(num_keys, scores.shape[0]):
        scores[key] = _NOTHING
    total = np.float32(0)
    for key in range(scores.shape[0]):
        share = exp(scores[key] - most) if scores[key] > _NOTHING else np.float32(0)
        scores[key] = share
        total += share
    inverse = np.float32(1) / total
    for key in range(num_keys):
        scores[key] *= inverse


@njit(fastmath=True, error_model="numpy")
def attend(
    counters, phase, num_threads, qkv, visible, num_heads, num_kv, head_dim, keys, values, mixed
):
    """Write what each row's heads gather (rows, heads · head_dim). A unit is one key-value head,
    with all query heads of its group, and some rows."""
    num_rows, group = mixed.shape[0], num_heads // num_kv
    at_once = max(1, min(_QUERIES_AT_ONCE, num_rows * num_kv // (2 * num_threads)))
    num_blocks = (num_rows + at_once - 1) // at_once
    num_units = num_blocks * num_kv
    padded = (visible.shape[1] + _KEYS_AT_ONCE - 1) // _KEYS_AT_ONCE * _KEYS_AT_ONCE
    queries = np.empty((at_once * group, head_dim), np.float32)
    gathered = np.empty((at_once * group, head_dim), np.float32)
    scores = np.empty((at_once * group, padded), np.float32)
    unit = take(counters, phase)
    while unit < num_units:
        head, block = unit % num_kv, unit // num_kv
        first, end = block * at_once, min((block + 1) * at_once, num_rows)
        num_keys = num_seen(visible, first, end)
        num_queries = (end - first) * group
        for row in range(first, end):
            for member in range(group):
                own = qkv[row, (head * group + member) * head_dim :]
                to = queries[(row - first) * group + member]
                for k in range(head_dim):
                    to[k] = own[k]
        for key in range(0, num_keys, LANES):
            float_products(
                queries.ctypes.data,
                head_dim,
                num_queries,
                keys[head, key // LANES].ctypes.data,
                LANES,
                head_dim,
                scores.ctypes.data + 4 * key,
                padded,
            )
        for query in range(num_queries):
            soften(scores[query], visible[first + query // group], num_keys)
        for k in range(0, head_dim, LANES):
            float_products(
                scores.ctypes.data,
                padded,
                num_queries,
                values[head].ctypes.data + 2 * k,
                head_dim,
                num_keys,
                gathered.ctypes.data + 4 * k,
                head_dim,
            )
        for row in range(first, end):
            for member in range(group):
                own = gathered[(row - first) * group + member]
                to = mixed[row, (head * group + member) * head_dim :]
                for k in range(head_dim):
                    to[k] = own[k]
        finish(counters, phase)
        unit = take(counters, phase)
    wait(counters, phase, num_units)
