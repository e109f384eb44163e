"""uvicorn's HTTP connection with bounds that it lacks: how many there are, and how slow one may be.

A client that opens connections and sends nothing, or a request's head byte by byte, would hold
them for ever.
"""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

from intarsia.cli.api.http.read import READ_TIMEOUT_S

MAX_CONNECTIONS = 256
_LATE = (
    b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-type: text/plain\r\n"
    b"content-length: 28\r\n\r\nno complete request arrived\n"
)


class BoundedProtocol(H11Protocol):
    """One connection; a complete head must arrive within ``READ_TIMEOUT_S`` of its first byte."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
        else:
            self._timer = self.loop.call_later(READ_TIMEOUT_S, self._give_up)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_answering():
            self._stop_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(READ_TIMEOUT_S, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _is_answering(self) -> bool:
        # uvicorn declares the cycle as never None, but it is before the first request.
        return bool(self.cycle) and not self.cycle.response_complete

    def _give_up(self) -> None:
        self._timer = None
        if not self._is_answering() and not self.transport.is_closing():
            self.transport.write(_LATE)
            self.transport.close()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
