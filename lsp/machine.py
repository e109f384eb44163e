"""Whether this computer runs on battery or is busy: suggestions are slower then, or off."""

import os
import time
from collections.abc import Callable
from typing import Generic, Self, TypeVar

import psutil

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.feature import Feature
from intarsia.lsp.session import Session
from intarsia.lsp.settings import Settings

POWER_READ_EVERY_S, LOAD_READ_EVERY_S = 30.0, 10.0
BUSY_PER_CORE = 3.0
"""Programs that want a core, for each core. The engine alone wants one for each."""

T = TypeVar("T")


class LastKnown(Generic[T]):
    """What the system tells, read again after some seconds."""

    def __init__(
        self, read: Callable[[], T], every_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._read, self._every_s, self._clock = read, every_s, clock
        self._known: tuple[T, float] | None = None  # and when it was read

    def __call__(self) -> T:
        now = self._clock()
        if self._known is None or now - self._known[1] >= self._every_s:
            self._known = self._read(), now
        return self._known[0]


def runs_on_battery() -> bool:
    """Ask the system. A computer without a battery, or that does not tell, runs on mains."""
    try:
        battery = psutil.sensors_battery()
    except (AttributeError, OSError, RuntimeError):  # AttributeError: not on this system
        return False
    return battery is not None and battery.power_plugged is False


def load_per_core() -> float:
    """Return the load average of the last minute for each core; 0 where the system tells none."""
    try:
        return psutil.getloadavg()[0] / (os.cpu_count() or 1)
    except (AttributeError, OSError):
        return 0.0


SLOWNESS = 4
"""How many times longer a key waits for the next one."""


class Strain(Feature):
    """What the settings say of a computer with this source of power and this load."""

    def __init__(self, is_on_battery: Callable[[], bool], load: Callable[[], float]) -> None:
        """``load`` returns how many programs want a core, for each core."""
        self._is_on_battery = is_on_battery
        self._load = load

    @classmethod
    def for_session(cls, _session: Session) -> Self:
        return cls(
            LastKnown(runs_on_battery, POWER_READ_EVERY_S),
            LastKnown(load_per_core, LOAD_READ_EVERY_S),
        )

    def allows_idle_work(self, settings: Settings) -> bool:
        """Whether the engine may work ahead of the user."""
        setting = settings.fill_ahead
        return setting == "always" or (setting == "onPower" and not self._is_on_battery())

    def silence(self, settings: Settings) -> NoSuggestion | None:
        """Return why nothing is suggested automatically now, None where something is."""
        if settings.on_battery == "off" and self._is_on_battery():
            return NoSuggestion(reason="the computer is on battery (onBattery)", kind="battery")
        if settings.when_busy == "off" and self._load() > BUSY_PER_CORE:
            return NoSuggestion(reason="the computer is busy (whenBusy)", kind="busy")
        return None

    def slowness(self, settings: Settings) -> int:
        """Return how many times longer a key waits for the next one."""
        is_slow = (settings.on_battery == "slower" and self._is_on_battery()) or (
            settings.when_busy == "slower" and self._load() > BUSY_PER_CORE
        )
        return SLOWNESS if is_slow else 1
