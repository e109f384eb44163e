"""How torch's threads wait for each other: set before torch is loaded."""

import os


def spin_briefly() -> None:
    """Let threads spin a short while, then sleep; what the user has set is left as it is.

    A pass is some hundred small parallel pieces. Threads that always sleep in between make it 1.6
    times as long on an idle machine; threads that spin without end fight the user's other work for
    the cores and made it ten times as long on a busy one (both measured on two cores).
    """
    os.environ.setdefault("GOMP_SPINCOUNT", "5000")
