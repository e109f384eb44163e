"""Time work on a device, after a warm-up and until it is done; and read its peak memory."""

import time
from collections.abc import Callable
from statistics import median

import torch

from intarsia_research.model_cost.figure_lines import Times


class Stopwatch:
    """Times work on one device. The clock stops when the device has finished."""

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def time(
        self,
        work: Callable[[], object],
        *,
        repeats: int,
        warm_ups: int = 2,
        before_each: Callable[[], object] = lambda: None,
    ) -> Times:
        """Time ``repeats`` runs of ``work``; ``before_each`` is not timed."""
        measured = [self._once(work, before_each) for _ in range(warm_ups + repeats)][warm_ups:]
        return Times(
            median=median(measured), lowest=min(measured), highest=max(measured), repeats=repeats
        )

    def _once(self, work: Callable[[], object], before: Callable[[], object]) -> float:
        before()
        self._wait()
        started = time.perf_counter()
        work()
        self._wait()
        return (time.perf_counter() - started) * 1000

    def _wait(self) -> None:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)


def forget_peak(device: torch.device) -> None:
    """Reset the peak of the memory in use."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def peak_bytes(device: torch.device) -> int:
    """Return the peak memory since the reset; 0 on a CPU, where it is not counted."""
    return torch.cuda.max_memory_allocated(device) if device.type == "cuda" else 0
