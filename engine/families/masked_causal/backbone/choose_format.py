"""The format of a backbone's matrices: what is asked for and the machine → a format.

Where none is asked for, a short calibration tells: processors and libraries differ too much for a
rule.
"""

import time
from collections.abc import Callable
from statistics import median
from typing import Literal, TypeAlias

import torch

from intarsia.engine.config import Dtype
from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.adapter import GatedAdapter
from intarsia.engine.families.masked_causal.backbone.linear import Linear, packed_matrix, packs
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape

Format: TypeAlias = Literal["plain", "packed", "int8"]

_NUM_ROWS = 8  # a usual pass
_NUM_TURNS = 7
_NUM_BYTES = 2**26  # of plain matrices that take turns: more than caches hold
_WORTH = 0.9  # of the time: another format costs time to make, or memory, or the last digits


def choose_format(
    wanted: Dtype,
    shape: BackboneShape,
    adapter: GatedAdapter | None,
    *,
    dtype: torch.dtype,
    device: torch.device,
    has_room: Callable[[Format], bool],
) -> Format:
    """Return int8 where it is asked for. Else what is fastest of what is allowed: int8 where no
    format is asked for; a copy of all matrices in a format where it ``has_room``.

    Raises ModelError where int8 is asked for and cannot be had.
    """
    reason = _reason_against_bytes(shape, adapter, device) if wanted in ("int8", "auto") else ""
    if wanted == "int8":
        if reason is not None:
            raise ModelError(f"int8 cannot be had: {reason}: leave `--dtype` out")
        return "int8"
    formats: list[Format] = ["plain"]
    if device.type == "cpu" and has_room("packed") and packs(dtype):
        formats.append("packed")
    if reason is None and has_room("int8"):
        formats.append("int8")
    return fastest(formats, shape, dtype) if len(formats) > 1 else "plain"


def _reason_against_bytes(
    shape: BackboneShape, adapter: GatedAdapter | None, device: torch.device
) -> str | None:
    if device.type != "cpu":
        return f"it is for the CPU, not for {device}"
    try:
        from intarsia.engine.families.masked_causal.backbone.int8_weights import (
            reason_against_bytes,
        )
        from intarsia.engine.kernels.matmul import multiplies_bytes

        if (reason := reason_against_bytes(shape, adapter)) is not None:
            return reason
        is_there = multiplies_bytes()
    except Exception as error:  # noqa: BLE001 - a compiler may fail in any way; torch does not need it
        return f"its products cannot be compiled here ({error!r})"
    return None if is_there else "this processor has no dot products of bytes"


@torch.inference_mode()
def fastest(formats: list[Format], shape: BackboneShape, dtype: torch.dtype) -> Format:
    """Time products with matrices of the model's own size, in turn; of formats in an order of
    rising cost, a later one must be worth it."""
    weight = torch.full((2 * shape.intermediate, shape.hidden), 0.5, dtype=dtype)
    num_matrices = min(_NUM_TURNS, 1 + _NUM_BYTES // weight.nbytes)
    rows = torch.ones(_NUM_ROWS, shape.hidden, dtype=dtype)
    ways = [_ways(of, weight, rows, num_matrices) for of in formats]
    for products in ways:
        products[0]()  # the first finds its way through the library
    turns = [
        [_seconds(products[turn % num_matrices]) for products in ways] for turn in range(_NUM_TURNS)
    ]
    seconds = [median(turn[i] for turn in turns) for i in range(len(formats))]
    best = 0
    for i in range(1, len(formats)):
        if seconds[i] < _WORTH * seconds[best]:
            best = i
    return formats[best]


def _ways(
    of: Format, weight: torch.Tensor, rows: torch.Tensor, count: int
) -> list[Callable[[], object]]:
    """Return so many products, each with a matrix of its own."""
    if of == "int8":
        from intarsia.engine.kernels.matmul import lone_matrix, multiply_rows
        from intarsia.engine.kernels.threads import Team

        team, x, exact = Team(torch.get_num_threads()), rows.float().numpy(), weight.float().numpy()
        parts = [lone_matrix(exact) for _ in range(count)]
        return [lambda part=part: multiply_rows(part, x, team) for part in parts]  # type: ignore[misc]
    make = packed_matrix if of == "packed" else lambda it: Linear(it.clone())
    matrices = [make(weight) for _ in range(count)]
    return [lambda matrix=matrix: matrix.multiply(rows) for matrix in matrices]  # type: ignore[misc]


def _seconds(product: Callable[[], object]) -> float:
    started = time.perf_counter()
    product()
    return time.perf_counter() - started
