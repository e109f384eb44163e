"""Connections to one server that whole answers left open, for the requests after them.

A new connection costs a round trip before its first request, with TLS two or three: on the way to
another place, more than the server takes to fill a line. May be used from several threads.
"""

import time
from collections import deque
from collections.abc import Callable

from intarsia.engine.remote.http.connection import HttpConnection
from intarsia.engine.remote.http.watch import Watch

MAX_KEPT = 2
"""A user's fills follow each other. Each idle connection may hold a thread of the server."""

MAX_IDLE_S = 4.0
"""Many servers end a connection that was idle for 5 s; one ended meanwhile costs a second try."""


class KeptConnections:
    """The open connections to one server. ``clock`` returns seconds, as time.monotonic does."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept = deque[tuple[float, HttpConnection]]()  # used last at the end

    def take(self, watch: Watch) -> HttpConnection | None:
        """Return an open connection for one exchange, None if there is none."""
        while (taken := self._pop()) is not None:
            kept_at, connection = taken
            if self._clock() - kept_at <= MAX_IDLE_S and connection.use(watch):
                return connection
            connection.close()
        return None

    def keep(self, connection: HttpConnection, *, has_said_all: bool) -> None:
        """Keep a connection if its last answer is whole, or has only its end still to come.

        Any other one is closed, which cancels what the server does, and so is one too many.
        """
        if len(self._kept) < MAX_KEPT and (has_said_all or connection.can_go_on()):
            self._kept.append((self._clock(), connection))
        else:
            connection.close()

    def close(self) -> None:
        """Close them all; later ones may be kept again."""
        while (taken := self._pop()) is not None:
            taken[1].close()

    def __del__(self) -> None:
        """Close what is left where a remote is given up."""
        self.close()

    def _pop(self) -> tuple[float, HttpConnection] | None:
        try:
            return self._kept.pop()
        except IndexError:
            return None
