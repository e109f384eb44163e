"""How torch's native libraries behave: set before torch is loaded. What the user has set stays."""

import os


def spin_briefly() -> None:
    """Let threads that wait for each other spin a short while, then sleep.

    A pass is some hundred small parallel pieces. Threads that always sleep in between make it 1.6
    times as long on an idle machine; threads that spin without end fight the user's other work for
    the cores and made it ten times as long on a busy one (both measured on two cores).
    """
    os.environ.setdefault("GOMP_SPINCOUNT", "5000")


def keep_few_kernels() -> None:
    """Let oneDNN forget compiled kernels: it makes some for every number of rows, and would keep a
    thousand.

    Contexts have any length: sixty short ones made an engine grow by a third of a GB. The few that
    every hole needs stay among so many.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "192")
