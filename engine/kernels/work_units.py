"""How threads share a pass: phase by phase, each in units that whoever is free takes next.

A phase ends when all its units are done, not when all threads have come: one that the system has
put aside holds nobody up, unless it has a unit in hand. Counters: (phases, 16) int64, zeros at the
start; each row is one phase's units taken and, a cache line away, done.
"""

from numba import njit

from intarsia.engine.kernels.intrinsics import read_number, rest, take_number

COUNTERS_A_PHASE = 16
_DONE = 8


@njit(inline="always")
def take(counters, phase):
    """Return the number of a unit that nobody else has."""
    return take_number(counters.ctypes.data + 8 * COUNTERS_A_PHASE * phase)


@njit(inline="always")
def finish(counters, phase):
    """Say that a unit is done."""
    take_number(counters.ctypes.data + 8 * (COUNTERS_A_PHASE * phase + _DONE))


@njit(inline="always")
def wait(counters, phase, num_units):
    """Return once all units of a phase are done."""
    while read_number(counters.ctypes.data + 8 * (COUNTERS_A_PHASE * phase + _DONE)) < num_units:
        rest()
