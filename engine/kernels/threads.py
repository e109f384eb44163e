"""Threads that run one compiled function together, and share its work by counters."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np

from intarsia.engine.kernels.operands import Work
from intarsia.engine.kernels.work_units import COUNTERS_PER_PHASE


class ThreadTeam:
    """``size`` threads: the caller's and a pool of the others."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._others = ThreadPoolExecutor(size - 1, "kernel") if size > 1 else None
        self._one_call_at_a_time = threading.Lock()

    def run(self, kernel: Callable[..., None], num_phases: int, *arguments: object) -> None:
        """Call ``kernel(work, *arguments)`` on every thread; return when all have returned."""
        work = Work(np.zeros((num_phases, COUNTERS_PER_PHASE), np.int64), self.size)
        if self._others is None:
            kernel(work, *arguments)
            return
        with self._one_call_at_a_time:
            others = [self._others.submit(kernel, work, *arguments) for _ in range(self.size - 1)]
            kernel(work, *arguments)
            for future in wait(others).done:
                future.result()
