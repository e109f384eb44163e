"""Read the energy that the machine's processors have consumed (Linux, RAPL).

https://docs.kernel.org/power/powercap/powercap.html
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

POWERCAP = Path("/sys/class/powercap")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Counter:
    """The counter of one processor package: microjoules, back to 0 after ``highest``."""

    path: Path
    highest: int

    def read(self) -> int:
        return int(self.path.read_text())


class EnergyMeter:
    """Sums the energy of all processor packages, whichever program used it."""

    def __init__(self, counters: Sequence[_Counter]) -> None:
        self._counters = counters
        self._last = [counter.read() for counter in counters]

    def joules(self) -> float:
        """Return the joules since the last call, or since the meter was made."""
        now = [counter.read() for counter in self._counters]
        spent = [
            after - before if after >= before else after - before + counter.highest
            for counter, before, after in zip(self._counters, self._last, now, strict=True)
        ]
        self._last = now
        return sum(spent) / 1e6


def energy_meter(folder: Path = POWERCAP) -> EnergyMeter | None:
    """Return a meter; None if this machine has no counters that this user can read."""
    try:
        counters = [
            _Counter(
                path=package / "energy_uj",
                highest=int((package / "max_energy_range_uj").read_text()),
            )
            for package in sorted(folder.glob("intel-rapl:*"))
            if package.name.count(":") == 1  # the others are parts of packages
        ]
        return EnergyMeter(counters) if counters else None
    except OSError:
        return None
