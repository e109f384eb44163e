"""The figures of a measurement: one JSON line each, written as soon as it is known.

So a run that is cut off keeps its figures. Times are in milliseconds, memory is in bytes. Imports
no torch.
"""

import sys
from pathlib import Path
from typing import TypeAlias

import msgspec


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """The times of ``repeats`` runs after the warm-up, in milliseconds."""

    median: float
    lowest: float
    highest: float
    repeats: int


class Floor(msgspec.Struct, frozen=True, kw_only=True):
    """The least times by two measured rates; no implementation is faster than the larger one."""

    bytes: int  # the least that must be read or written
    flops: int
    bytes_ms: float  # by the bandwidth of a large copy
    flops_ms: float  # by the rate of a large bfloat16 product


class Machine(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="machine"):
    """The machine of the measurement, and its best rates."""

    device: str
    torch: str
    transformers: str
    memory_bytes: int
    copy_bytes_per_s: float  # read and written bytes both count
    product_flops_per_s: float


class LoadFigures(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="loaded"):
    """A loaded model."""

    model: str
    weights: str  # bf16, fp8, int4, …
    seconds: float
    weight_bytes: int
    peak_bytes: int  # while it was loaded


class Prefill(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="prefill"):
    """Reading a context with an empty cache."""

    weights: str
    context: int
    times: Times
    floor: Floor
    peak_bytes: int


class FirstPass(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="first_pass"):
    """Reading a context and one pass; ``num_held`` of its tokens were in the cache."""

    weights: str
    context: int
    num_held: int
    canvas: int
    times: Times


class Pass(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="pass"):
    """One pass over ``batch`` canvases after one context, with self-conditioning."""

    weights: str
    way: str  # direct, fixed or graph
    canvas: int
    context: int
    batch: int
    times: Times
    floor: Floor
    experts_touched: float  # active experts of a layer, mean over the layers
    peak_bytes: int


class Step(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="step"):
    """One denoising step of the engine's loop: pass, sample, accept, renoise, draft, stop."""

    weights: str
    way: str
    canvas: int
    context: int
    times: Times


class Holes(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="holes"):
    """Single-line holes through the filler, in milliseconds."""

    model: str
    device: str
    dtype: str
    has_real_weights: bool
    context_is_held: bool
    num_holes: int
    p50: float  # of the whole fill
    p95: float
    prefill_p50: float
    pass_p50: float
    passes_p50: float


class Missing(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="missing"):
    """A figure that could not be measured, and why."""

    case: str
    reason: str


Line: TypeAlias = Machine | LoadFigures | Prefill | FirstPass | Pass | Step | Holes | Missing


class FigureLines:
    """Prints every line, and appends it to a file if there is one."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def write(self, line: Line) -> None:
        """Write a line at once, without buffering."""
        encoded = msgspec.json.encode(line)
        sys.stdout.write(encoded.decode() + "\n")
        sys.stdout.flush()
        if self._path is not None:
            with self._path.open("ab") as file:
                file.write(encoded + b"\n")


def read_lines(path: Path) -> list[Line]:
    """Return the figures of a file, in the order in which they were measured."""
    return [msgspec.json.decode(line, type=Line) for line in path.read_bytes().splitlines()]
