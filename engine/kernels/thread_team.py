"""The threads that run a kernel together; how they share it is in ``compiled/work_units.py``."""

import threading
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np

from intarsia.engine.kernels.native_kernel import NativeKernel
from intarsia.engine.kernels.operands import COUNTERS_PER_PHASE, Work


class ThreadTeam:
    """``size`` threads: the caller's and a pool of the others."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._others = ThreadPoolExecutor(size - 1, "kernel") if size > 1 else None
        self._one_call_at_a_time = threading.Lock()

    def run(self, kernel: NativeKernel, num_phases: int, *arguments: object) -> None:
        """Call ``kernel(work, *arguments)`` on every thread; return when all have returned."""
        work = Work(np.zeros((num_phases, COUNTERS_PER_PHASE), np.int64), self.size)
        call = kernel.bind(work, *arguments)
        if self._others is None:
            call()
            return
        with self._one_call_at_a_time:
            others = [self._others.submit(call) for _ in range(self.size - 1)]
            call()
            for future in wait(others).done:
                future.result()
