"""One HTTP/1.1 connection to a server: requests and answers in turn, by h11.

An answer is read as it comes. Once it is whole, the connection may carry the next request.

No HTTP client has been found that can take this place. httpx2 2.16 hands bytes that come after an
answer to the next request, as its answer; it does not send a request again that a kept connection
lost; and it looks names up itself, where plain HTTP has to stay on this machine.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator

import h11

from intarsia.engine.remote.http.wire import Watch, Wire

_MAX_HEADER_BYTES = 64 * 1024
_MAX_REST_BYTES = 64 * 1024
_MAX_INFORMATIONAL = 8  # such as "100 Continue"


class BrokenAnswer(Exception):
    """The answer is no HTTP. ``is_cut_off``: the server has ended the connection within it."""

    def __init__(self, problem: str, *, is_cut_off: bool) -> None:
        super().__init__(problem)
        self.is_cut_off = is_cut_off


class HttpConnection:
    """A connection and what was said on it."""

    def __init__(self, wire: Wire) -> None:
        self.has_answered = False  # a byte of the answer to the last request has come
        self._wire = wire
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEADER_BYTES)

    def ask(self, request: h11.Request, content: bytes) -> h11.Response:
        """Send a request, return the answer's head; close at OSError, BrokenAnswer, or a cancel."""
        try:
            return self._ask(request, content)
        except BaseException:
            self.close()
            raise

    def _ask(self, request: h11.Request, content: bytes) -> h11.Response:
        self.has_answered = False
        pieces = [self._http.send(request)]
        if content:
            pieces.append(self._http.send(h11.Data(data=content)))
        pieces.append(self._http.send(h11.EndOfMessage()))
        self._wire.send(b"".join(piece for piece in pieces if piece))
        for _ in range(_MAX_INFORMATIONAL + 1):
            event = self._next_event()
            if isinstance(event, h11.Response):
                return event
            if not isinstance(event, h11.InformationalResponse):
                break
        raise BrokenAnswer("no response", is_cut_off=self._wire.has_ended)

    def body(self) -> Iterator[bytes]:
        """Yield the answer's body as it comes. Raises what ``ask`` raises."""
        while isinstance(event := self._next_event(), h11.Data):
            yield bytes(event.data)

    def can_go_on(self) -> bool:
        """Make ready for the next request if the last answer is whole; return whether it is.

        Waits for nothing. Little may follow what was read, or the answer is taken for given up.
        """
        if self._http.our_state is h11.IDLE:
            return True
        num_left = _MAX_REST_BYTES
        try:
            while self._http.their_state is h11.SEND_BODY and num_left > 0:
                if self._http.next_event() is not h11.NEED_DATA:
                    continue
                data = self._wire.receive_now()
                if not data:
                    return False
                num_left -= len(data)
                self._http.receive_data(data)
            self._http.start_next_cycle()
        except h11.ProtocolError:  # the answer goes on, the server ends it, or this is no HTTP
            return False
        return True

    def use(self, watch: Watch) -> bool:
        """Put the next exchange under this watch; return False if there can be none.

        The last answer must have ended, the connection not, and nothing else may have come.
        """
        self._wire.watch = watch
        is_ready = self.can_go_on() and not self._http.trailing_data[0]
        return is_ready and self._wire.receive_now() is None

    def close(self) -> None:
        """Close at once, whatever the server is doing: that cancels its work."""
        self._wire.close()

    def _next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                data = self._wire.receive()
                self.has_answered = self.has_answered or bool(data)
                self._http.receive_data(data)
        except h11.RemoteProtocolError as error:
            raise BrokenAnswer(str(error), is_cut_off=self._wire.has_ended) from error
        return event


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
        """Keep a connection whose answer is whole or nearly so, if there is room, or close it."""
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
