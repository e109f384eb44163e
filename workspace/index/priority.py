"""Lowers the priority of this process, so that it uses what others leave."""

import os
import sys
from contextlib import suppress

import psutil

LOWEST = 19
LOW = 10
"""For a process that also answers: at the lowest, a busy machine would hardly let it."""


def lower_priority(niceness: int) -> None:
    """Lower this process's share of processor and disk; does what the system allows."""
    process = psutil.Process()
    with suppress(OSError, psutil.Error, AttributeError, ValueError):
        if sys.platform == "win32":
            process.nice(psutil.IDLE_PRIORITY_CLASS)
            process.ionice(psutil.IOPRIO_VERYLOW)
        else:
            os.nice(max(0, niceness - os.nice(0)))
            if hasattr(process, "ionice"):
                process.ionice(psutil.IOPRIO_CLASS_IDLE)
