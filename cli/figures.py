"""What a benchmark measures with and what it finds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.filling.options import FillOptions


@dataclass(frozen=True, kw_only=True, slots=True)
class Bench:
    """An engine of the benchmark's own, and how to use it."""

    client: EngineClient
    address: Address  # of that engine
    options: FillOptions
    repeats: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """One number: ``name`` for scripts (with its unit), ``words`` and ``method`` for people."""

    name: str
    words: str
    value: float
    unit: str
    method: str


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that at least so many percent of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]
