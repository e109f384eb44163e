"""Whether this computer runs on battery, read at most every half a minute."""

import time
from collections.abc import Callable

READ_EVERY_S = 30.0


def runs_on_battery() -> bool:
    """Ask the system. A computer without a battery, or that does not tell, runs on mains."""
    import psutil  # not needed for ``initialize``

    try:
        battery = psutil.sensors_battery()
    except (AttributeError, OSError, RuntimeError):  # AttributeError: not on this system
        return False
    return battery is not None and battery.power_plugged is False


class Power:
    """The last known source of power."""

    def __init__(
        self,
        read: Callable[[], bool] = runs_on_battery,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = read
        self._clock = clock
        self._known: tuple[bool, float] | None = None  # and when it was read

    def is_on_battery(self) -> bool:
        now = self._clock()
        if self._known is None or now - self._known[1] >= READ_EVERY_S:
            self._known = self._read(), now
        return self._known[0]
