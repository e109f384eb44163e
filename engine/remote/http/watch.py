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


class EndlessAnswer(Exception):
    """The exchange has not ended within the time limit."""


@dataclass(kw_only=True, slots=True)
class Watch:
    """What an exchange obeys, while it waits and while data come.

    ``checkpoint`` is called about every ``POLL_S`` seconds; it raises what ends the exchange, and
    may itself take long. ``silence_s`` is how long the server may send nothing, ``total_s`` how
    long the whole exchange may take, checkpoints apart.
    """

    checkpoint: Callable[[], None]
    silence_s: float
    total_s: float
    _ends_at: float = field(init=False)
    _heard_at: float = field(default_factory=time.monotonic)
    _looked_at: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._ends_at = self._heard_at + self.total_s

    def heard(self) -> None:
        """Note that the server did something now."""
        self._heard_at = time.monotonic()

    def look(self) -> None:
        """Call the checkpoint if it is time. Raises EndlessAnswer, and what ``checkpoint`` raises.

        Whoever reads without waiting calls this: a server that sends without end is left, too.
        """
        now = time.monotonic()
        if now - self._looked_at < POLL_S:
            return
        if now > self._ends_at:
            raise EndlessAnswer
        self.checkpoint()
        self._looked_at = time.monotonic()
        self._ends_at += self._looked_at - now

    def wait(
        self, sock: socket.socket, *, for_write: bool = False, limit_s: float | None = None
    ) -> None:
        """Return once the socket is ready. Raises SilentServer, and what ``look`` raises.

        ``limit_s`` replaces ``silence_s`` for this wait.
        """
        limit = self.silence_s if limit_s is None else limit_s
        while not _is_ready(sock, for_write=for_write, timeout_s=POLL_S):
            self.look()
            # A checkpoint may have taken long: what came in this time counts.
            if time.monotonic() - self._heard_at > limit and not _is_ready(
                sock, for_write=for_write, timeout_s=0
            ):
                raise SilentServer
        self.heard()


def _is_ready(sock: socket.socket, *, for_write: bool, timeout_s: float) -> bool:
    with _Selector() as selector:
        selector.register(sock, selectors.EVENT_WRITE if for_write else selectors.EVENT_READ)
        return bool(selector.select(timeout_s))
