"""Load progress on its way to the clients: at most ten a second, and never without the last one."""

import asyncio
from collections.abc import Callable

from intarsia.engine.ipc.messages import LoadProgress

INTERVAL_S = 0.1


class ProgressThrottle:
    """Takes any number of reports on the event loop and passes on the newest of each interval."""

    def __init__(self, send: Callable[[LoadProgress], None]) -> None:
        self._send = send
        self._pending: LoadProgress | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.latest: LoadProgress | None = None

    def report(self, stage: str, fraction: float | None) -> None:
        self.latest = self._pending = LoadProgress(stage=stage, fraction=fraction)
        if self._timer is None:
            self._flush()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _flush(self) -> None:
        self._timer = None
        if self._pending is None:
            return
        self._send(self._pending)
        self._pending = None
        self._timer = asyncio.get_running_loop().call_later(INTERVAL_S, self._flush)
