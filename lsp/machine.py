"""Whether this computer runs on battery or is busy: suggestions are slower then, or off."""

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.feature import Feature
from intarsia.lsp.settings import Settings

if TYPE_CHECKING:
    from intarsia.lsp.session import Session

POWER_READ_EVERY_S = 30.0


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
        if self._known is None or now - self._known[1] >= POWER_READ_EVERY_S:
            self._known = self._read(), now
        return self._known[0]


LOAD_READ_EVERY_S = 10.0
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
        self, read: Callable[[], float] = load_per_core, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._read = read
        self._clock = clock
        self._known: tuple[float, float] | None = None  # and when it was read

    def is_busy(self) -> bool:
        """Whether more programs want a core than there are, by far."""
        now = self._clock()
        if self._known is None or now - self._known[1] >= LOAD_READ_EVERY_S:
            self._known = self._read(), now
        return self._known[0] > BUSY_PER_CORE


SLOWNESS = 4
"""How many times longer a key waits for the next one."""


class Strain(Feature):
    """What the settings say of a computer with this source of power and this load."""

    def __init__(self, power: Power, load: Load) -> None:
        self._power = power
        self._load = load

    @classmethod
    def for_session(cls, _session: "Session") -> Self:
        return cls(Power(), Load())

    def allows_idle_work(self, settings: Settings) -> bool:
        """Whether the engine may work ahead of the user."""
        setting = settings.fill_ahead
        return setting == "always" or (setting == "onPower" and not self._power.is_on_battery())

    def silence(self, settings: Settings) -> NoSuggestion | None:
        """Return why nothing is suggested automatically now, None where something is."""
        if settings.on_battery == "off" and self._power.is_on_battery():
            return NoSuggestion(reason="the computer runs on battery (onBattery)", kind="battery")
        if settings.when_busy == "off" and self._load.is_busy():
            return NoSuggestion(reason="the computer is busy (whenBusy)", kind="busy")
        return None

    def slowness(self, settings: Settings) -> int:
        """Return how many times longer a key waits for the next one."""
        is_slow = (settings.on_battery == "slower" and self._power.is_on_battery()) or (
            settings.when_busy == "slower" and self._load.is_busy()
        )
        return SLOWNESS if is_slow else 1
