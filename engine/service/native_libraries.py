"""Set how torch's native libraries behave, before torch is loaded; the user's own settings stay."""

import os


def spin_briefly() -> None:
    """Let OpenMP threads that wait for each other spin for a short time, then sleep.

    A forward pass is some hundred small parallel pieces. If threads always sleep in between, it
    takes 1.6 times as long on an idle machine. If they spin without end, they take cores from other
    programs, and it took ten times as long on a busy machine (both measured on two cores).
    """
    os.environ.setdefault("GOMP_SPINCOUNT", "5000")


def keep_few_kernels() -> None:
    """Let oneDNN keep 192 compiled kernels instead of a thousand.

    It compiles some for every number of rows, and contexts have any length: sixty short ones made
    an engine grow by a third of a GB. 192 hold the few that every hole needs.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "192")
