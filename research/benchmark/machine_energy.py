"""The energy that the machine says it has taken, where it says so (Linux, RAPL).

https://docs.kernel.org/power/powercap/powercap.html
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

POWERCAP = Path("/sys/class/powercap")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Counter:
    """One processor package: microjoules, up to a highest value, and from 0 again."""

    path: Path
    highest: int

    def read(self) -> int:
        return int(self.path.read_text())


class EnergyMeter:
    """Sums what the processor packages have taken since it was last asked: all that ran there."""

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
    """Return a meter; None where this machine does not tell, or not to this user."""
    try:
        counters = [
            _Counter(
                path=package / "energy_uj",
                highest=int((package / "max_energy_range_uj").read_text()),
            )
            for package in sorted(folder.glob("intel-rapl:*"))
            if package.name.count(":") == 1  # others are parts of these
        ]
        return EnergyMeter(counters) if counters else None
    except OSError:
        return None
