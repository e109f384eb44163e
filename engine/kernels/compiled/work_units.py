"""Share a pass between threads: phase by phase, each phase split into units that threads claim.

A phase ends when all its units are done, not when all threads have arrived. So a thread that the
system has suspended delays the others only while it holds a unit.
"""

from numba import njit

from intarsia.engine.kernels.compiled.intrinsics import fetch_and_add, load_acquire, pause
from intarsia.engine.kernels.operands import Phase

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
