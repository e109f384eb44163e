"""Choose the format of a backbone's matrices: the configured one, or the fastest on this machine.

Without a configured format a short calibration decides: processors and libraries differ too much
for a rule.
"""

import time
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

import torch

from intarsia.engine.config import Dtype
from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.adapter import GatedAdapter
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.families.masked_causal.backbone.torch_weights import Linear, can_pack, pack

Format: TypeAlias = Literal["plain", "packed", "int8"]

_NUM_ROWS = 8  # of a typical pass
_NUM_ROUNDS = 15
_NUM_BYTES = 2**26  # of a plain matrix: more than caches hold, and a call costs little of it
_WORTHWHILE = 0.9  # of the time: another format costs load time, memory or precision


class ChosenFormat(NamedTuple):
    """A format, and why int8 was not among those that were timed although it was allowed."""

    format: Format
    note: str | None = None


def choose_format(
    configured: Dtype,
    shape: BackboneShape,
    adapter: GatedAdapter | None,
    *,
    dtype: torch.dtype,
    device: torch.device,
    has_room: Callable[[Format], bool],
) -> ChosenFormat:
    """Return int8 where it is configured, else the fastest format that is allowed.

    int8 is allowed where the format is ``auto``, and packed or int8 copies where ``has_room``.
    Raises ModelError where int8 is configured and cannot run.
    """
    if configured == "int8":
        reason = _why_not_int8(shape, adapter, device)
        if reason is not None:
            raise ModelError(f"int8 cannot run here: {reason}: leave `--dtype` out")
        return ChosenFormat("int8")
    formats: list[Format] = ["plain"]
    if device.type == "cpu" and has_room("packed") and can_pack(dtype):
        formats.append("packed")
    note = None
    if configured == "auto" and device.type == "cpu":
        is_short = not has_room("int8")
        reason = "memory is short" if is_short else _why_not_int8(shape, adapter, device)
        if reason is None:
            formats.append("int8")
        else:
            note = f"int8 is not used: {reason}"
    return ChosenFormat(fastest(formats, shape, dtype) if len(formats) > 1 else "plain", note)


@torch.inference_mode()
def fastest(formats: list[Format], shape: BackboneShape, dtype: torch.dtype) -> Format:
    """Return the format that multiplies fastest, timed with a matrix as tall as several layers.

    ``formats`` are in order of rising cost; a later one must be clearly faster. What other programs
    take only adds to a time, so the shortest of all rounds is compared.
    """
    height = 2 * shape.intermediate
    num_bytes = height * shape.hidden * dtype.itemsize
    num_layers = min(shape.num_layers, 1 + _NUM_BYTES // num_bytes)
    weight = torch.full((num_layers * height, shape.hidden), 0.5, dtype=dtype)
    rows = torch.ones(_NUM_ROWS, shape.hidden, dtype=dtype)
    products = [_product(format_, weight, rows) for format_ in formats]
    for product in products:
        product()  # the first call sets the library up
    rounds = [[_seconds(product) for product in products] for _ in range(_NUM_ROUNDS)]
    seconds = [min(times) for times in zip(*rounds, strict=True)]
    best = 0
    for i in range(1, len(formats)):
        if seconds[i] < _WORTHWHILE * seconds[best]:
            best = i
    return formats[best]


def _why_not_int8(
    shape: BackboneShape, adapter: GatedAdapter | None, device: torch.device
) -> str | None:
    """Return why int8 cannot run, None where it can."""
    if device.type != "cpu":
        return f"it is for the CPU, not for {device}"
    try:
        from intarsia.engine.families.masked_causal.backbone import int8_weights

        if (reason := int8_weights.why_unfit_for_int8(shape, adapter)) is not None:
            return reason
        is_supported = int8_weights.is_int8_supported()
    except Exception as error:  # noqa: BLE001 - a compiler may fail in any way; torch does not need it
        return f"its products cannot be compiled here ({error!r})"
    return None if is_supported else "this processor has no dot products of bytes"


def _product(format_: Format, weight: torch.Tensor, rows: torch.Tensor) -> Callable[[], object]:
    """Return a function that multiplies the rows with the matrix in a format."""
    if format_ == "int8":
        from intarsia.engine.kernels.int8_support import multiply_rows, quantize_matrix
        from intarsia.engine.kernels.threads import ThreadTeam

        team, x = ThreadTeam(torch.get_num_threads()), rows.float().numpy()
        part = quantize_matrix(weight.float().numpy())
        return lambda: multiply_rows(part, x, team)
    matrix = pack(weight) if format_ == "packed" else Linear(weight)
    return lambda: matrix.multiply(rows)


def _seconds(product: Callable[[], object]) -> float:
    started = time.perf_counter()
    product()
    return time.perf_counter() - started
