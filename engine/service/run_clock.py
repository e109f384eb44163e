"""How long a fill has run, without the time for which it was suspended."""

import time


class RunClock:
    """The clock of one fill, which runs from now on."""

    def __init__(self) -> None:
        self._started_at = self._resumed_at = time.monotonic()

    @property
    def run_s(self) -> float:
        """Seconds that the fill has run."""
        return time.monotonic() - self._started_at

    @property
    def slice_s(self) -> float:
        """Seconds since its start, or since it was resumed."""
        return time.monotonic() - self._resumed_at

    def resume(self, suspended_at: float) -> None:
        """Let it run again, after a suspension at that time.monotonic()."""
        self._resumed_at = time.monotonic()
        self._started_at += self._resumed_at - suspended_at
