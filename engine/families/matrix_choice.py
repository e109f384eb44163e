"""The format of a backbone's matrices: what is asked for and the machine → a format.

Where int8 is not asked for, a short calibration tells: processors and libraries differ too much for
a rule.
"""

import time
from collections.abc import Sequence
from statistics import median

import torch

from intarsia.engine.config import Dtype
from intarsia.engine.families.backbone_shape import BackboneShape
from intarsia.engine.families.matrix import Matrix, adds_bytes_exactly, packs
from intarsia.engine.families.pass_weights import MATRIX_OF, MatrixFormat
from intarsia.engine.filler import ModelError

_NUM_ROWS = 8  # a usual pass
_NUM_TURNS = 7
_NUM_BYTES = 2**26  # of plain matrices that take turns: more than caches hold
_WORTH = 0.9  # of the time: what is not as plain costs time to load


def choose_matrices(
    wanted: Dtype, shape: BackboneShape, *, dtype: torch.dtype, device: torch.device
) -> MatrixFormat:
    """Return int8 where it is asked for, else the fastest way to have the same numbers.

    Raises ModelError where int8 cannot be had.
    """
    if wanted == "int8":
        if device.type != "cpu":
            raise ModelError(
                f"int8 is for the CPU, not for {device}: add `--device cpu`, or no dtype"
            )
        if not adds_bytes_exactly():
            raise ModelError("this processor has no dot products of bytes: leave `--dtype` out")
        return "int8"
    if device.type != "cpu" or not packs(dtype):
        return "plain"
    return _fastest(("plain", "packed"), shape, dtype)


@torch.inference_mode()
def _fastest(
    formats: Sequence[MatrixFormat], shape: BackboneShape, dtype: torch.dtype
) -> MatrixFormat:
    """Time products with matrices of the model's own size; the first format is the usual one."""
    weight = torch.ones(2 * shape.intermediate, shape.hidden, dtype=dtype)
    rows = torch.ones(_NUM_ROWS, shape.hidden, dtype=dtype)
    num_matrices = min(_NUM_TURNS, 1 + _NUM_BYTES // weight.nbytes)
    matrices = {it: [MATRIX_OF[it](weight.clone()) for _ in range(num_matrices)] for it in formats}
    for name in formats:
        _product_s(matrices[name][0], rows)  # the first finds its way through the library
    times: dict[MatrixFormat, list[float]] = {name: [] for name in formats}
    for turn in range(_NUM_TURNS):
        for name in formats:
            times[name].append(_product_s(matrices[name][turn % num_matrices], rows))
    usual, best = formats[0], min(formats, key=lambda name: median(times[name]))
    return best if median(times[best]) < _WORTH * median(times[usual]) else usual


def _product_s(matrix: Matrix, rows: torch.Tensor) -> float:
    started = time.perf_counter()
    matrix.multiply(rows)
    return time.perf_counter() - started
