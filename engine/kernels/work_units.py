"""Share a pass between threads: phase by phase, each phase split into units that threads claim.

A phase ends when all its units are done, not when all threads have arrived. So a thread that the
system has suspended delays the others only while it holds a unit.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
from numba import njit

from intarsia.engine.kernels.intrinsics import fetch_and_add, load_acquire, pause
from intarsia.engine.kernels.operands import Phase, Work

COUNTERS_PER_PHASE = 16
"""Units claimed and, a cache line further, units done; zeros at the start."""

_DONE = 8


@njit(inline="always")
def phase_of(work, index):
    """Return one phase of a call."""
    return Phase(work.counters[index], work.num_threads)


@njit(inline="always")
def claim(phase):
    """Return the number of a unit that no other thread has."""
    return fetch_and_add(phase.counters.ctypes.data)


@njit(inline="always")
def done(phase):
    """Count a unit as done."""
    fetch_and_add(phase.counters.ctypes.data + 8 * _DONE)


@njit(inline="always")
def wait_for(phase, num_units):
    """Return once all units of the phase are done."""
    while load_acquire(phase.counters.ctypes.data + 8 * _DONE) < num_units:
        pause()


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
