"""Threads that run one compiled function together; they share its work by counters."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np

from intarsia.engine.kernels.work_units import COUNTERS_A_PHASE


class Team:
    """``size`` threads, the caller's among them."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._others = ThreadPoolExecutor(size - 1, "kernel") if size > 1 else None
        self._one_at_a_time = threading.Lock()

    def run(self, function: Callable[..., None], num_phases: int, *arguments: object) -> None:
        """Call ``function((counters, size), *arguments)`` on every thread; return when all have."""
        counters = np.zeros((num_phases, COUNTERS_A_PHASE), np.int64)
        shared = (counters, self.size)
        if self._others is None:
            function(shared, *arguments)
            return
        with self._one_at_a_time:
            helping = [
                self._others.submit(function, shared, *arguments) for _ in range(self.size - 1)
            ]
            function(shared, *arguments)
            for done in wait(helping).done:
                done.result()
