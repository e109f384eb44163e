"""The format of a backbone's matrices: what is asked for and the machine → a format.

Where int8 is not asked for, a short calibration tells: processors and libraries differ too much for
a rule.
"""

import time
from statistics import median

import torch

from intarsia.engine.config import Dtype
from intarsia.engine.families.backbone_shape import BackboneShape
from intarsia.engine.families.matrix import (
    Matrix,
    PlainMatrix,
    adds_bytes_exactly,
    packed_matrix,
    packs,
)
from intarsia.engine.families.pass_weights import MatrixFormat
from intarsia.engine.filler import ModelError

_NUM_ROWS = 8  # a usual pass
_NUM_TURNS = 7
_NUM_BYTES = 2**26  # of plain matrices that take turns: more than caches hold
_WORTH = 0.9  # of the time: packing costs time and memory


def choose_matrices(
    wanted: Dtype,
    shape: BackboneShape,
    *,
    dtype: torch.dtype,
    device: torch.device,
    has_room: bool,
) -> MatrixFormat:
    """Return int8 where it is asked for, else the faster way to have what are nearly the same
    products; ``has_room``: for a packed copy of all matrices.

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
    can_pack = device.type == "cpu" and has_room and packs(dtype)
    return "packed" if can_pack and _is_packed_faster(shape, dtype) else "plain"


@torch.inference_mode()
def _is_packed_faster(shape: BackboneShape, dtype: torch.dtype) -> bool:
    """Time products with matrices of the model's own size, in turn."""
    weight = torch.ones(2 * shape.intermediate, shape.hidden, dtype=dtype)
    rows = torch.ones(_NUM_ROWS, shape.hidden, dtype=dtype)
    num_matrices = min(_NUM_TURNS, 1 + _NUM_BYTES // weight.nbytes)
    plain = [PlainMatrix(weight.clone()) for _ in range(num_matrices)]
    packed = [packed_matrix(weight) for _ in range(num_matrices)]
    for matrix in (plain[0], packed[0]):
        _product_s(matrix, rows)  # the first finds its way through the library
    turns = [turn % num_matrices for turn in range(_NUM_TURNS)]
    times = [(_product_s(plain[i], rows), _product_s(packed[i], rows)) for i in turns]
    plain_s = median(turn[0] for turn in times)
    packed_s = median(turn[1] for turn in times)
    return packed_s < _WORTH * plain_s


def _product_s(matrix: Matrix, rows: torch.Tensor) -> float:
    started = time.perf_counter()
    matrix.multiply(rows)
    return time.perf_counter() - started
