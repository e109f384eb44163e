"""Measure what a device reaches at best: copied bytes and matrix operations a second.

The data are random, because products of zeros can be faster than those of real data.
"""

from dataclasses import dataclass

import torch

from intarsia_research.model_cost.figure_lines import Floor
from intarsia_research.model_cost.stopwatch import Stopwatch
from intarsia_research.model_cost.work import Work


@dataclass(frozen=True, kw_only=True, slots=True)
class Ceilings:
    """The measured rates of one device."""

    copy_bytes_per_s: float  # read and written bytes both count
    product_flops_per_s: float  # bfloat16

    def floor(self, work: Work) -> Floor:
        """Return the least time that this work can take."""
        return Floor(
            bytes=work.bytes,
            flops=work.flops,
            bytes_ms=1000 * work.bytes / self.copy_bytes_per_s,
            flops_ms=1000 * work.flops / self.product_flops_per_s,
        )


def measure_ceilings(device: torch.device, *, repeats: int) -> Ceilings:
    """Copy gigabytes and multiply large matrices; on a CPU, smaller ones."""
    is_large = device.type == "cuda"
    return Ceilings(
        copy_bytes_per_s=_copy_rate(device, 2**31 if is_large else 2**25, repeats),
        product_flops_per_s=_product_rate(device, 8192 if is_large else 512, repeats),
    )


def _copy_rate(device: torch.device, num_numbers: int, repeats: int) -> float:
    source = torch.empty(num_numbers, dtype=torch.bfloat16, device=device).normal_()
    target = torch.empty_like(source)
    times = Stopwatch(device).time(lambda: target.copy_(source), repeats=repeats)
    return 1000 * 2 * source.nbytes / times.median


def _product_rate(device: torch.device, size: int, repeats: int) -> float:
    left, right = (torch.randn(size, size, device=device).bfloat16() for _ in range(2))
    times = Stopwatch(device).time(lambda: left @ right, repeats=repeats)
    return 1000 * 2 * size**3 / times.median
