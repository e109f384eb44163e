"""Whether this computer is busy with other work, read at most every ten seconds."""

import os
import time
from collections.abc import Callable

READ_EVERY_S = 10.0
BUSY_PER_CORE = 3.0
"""Programs that want a core, for each core. The engine alone wants one for each."""


def load_per_core() -> float:
    """Return the load average of the last minute for each core; 0 where the system tells none."""
    import psutil  # not needed for ``initialize``

    try:
        return psutil.getloadavg()[0] / (os.cpu_count() or 1)
    except (AttributeError, OSError):
        return 0.0


class Load:
    """The last known load."""

    def __init__(
        self,
        read: Callable[[], float] = load_per_core,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = read
        self._clock = clock
        self._known: tuple[float, float] | None = None  # and when it was read

    def is_busy(self) -> bool:
        """Whether more programs want a core than there are, by far."""
        now = self._clock()
        if self._known is None or now - self._known[1] >= READ_EVERY_S:
            self._known = self._read(), now
        return self._known[0] > BUSY_PER_CORE
