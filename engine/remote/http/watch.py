"""Wait for a socket without ever being stuck: cancelled at once, given up after a time."""

import selectors
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field

POLL_S = 0.02
"""A cancelled request is noticed after this time at most."""

_Selector: type[selectors.BaseSelector] = getattr(
    selectors, "PollSelector", selectors.SelectSelector
)
"""Windows has no poll, and elsewhere select takes no descriptor above 1,023."""


class SilentServer(Exception):
    """Nothing came from the server within the time limit."""


@dataclass(kw_only=True, slots=True)
class Watch:
    """What a waiting exchange obeys.

    ``checkpoint`` is called about every ``POLL_S`` seconds; it raises what ends the exchange, and
    may itself take long. ``silence_s`` is how long the server may send nothing, ``total_s`` how
    long the whole exchange may take.
    """

    checkpoint: Callable[[], None]
    silence_s: float
    total_s: float
    _started_at: float = field(default_factory=time.monotonic)
    _heard_at: float = field(default_factory=time.monotonic)

    def heard(self) -> None:
        """Note that the server did something now."""
        self._heard_at = time.monotonic()

    def wait(
        self, sock: socket.socket, *, for_write: bool = False, limit_s: float | None = None
    ) -> None:
        """Return once the socket is ready. Raises SilentServer, and what ``checkpoint`` raises.

        ``limit_s`` replaces ``silence_s`` for this wait.
        """
        limit = self.silence_s if limit_s is None else limit_s
        while not _is_ready(sock, for_write=for_write, timeout_s=POLL_S):
            self.checkpoint()
            now = time.monotonic()
            is_over = now - self._heard_at > limit or now - self._started_at > self.total_s
            # A checkpoint may have taken long: what came in this time counts.
            if is_over and not _is_ready(sock, for_write=for_write, timeout_s=0):
                raise SilentServer
        self.heard()


def _is_ready(sock: socket.socket, *, for_write: bool, timeout_s: float) -> bool:
    with _Selector() as selector:
        selector.register(sock, selectors.EVENT_WRITE if for_write else selectors.EVENT_READ)
        return bool(selector.select(timeout_s))
