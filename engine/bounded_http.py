"""uvicorn with bounds that it lacks: how many connections there are, and how slow one may be.

A client could hold connections for ever that send nothing, or a TLS handshake or a request's head
byte by byte, or that do not read what they asked for. Here each step has its time. Where there are
too many connections, a new one takes the place of one that waits for its client.
"""

import asyncio
import ipaddress
import ssl
import sys
from collections import Counter
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

import uvicorn
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

if sys.platform != "win32":
    import resource

_T = TypeVar("_T")

_LATE = (
    b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-type: text/plain\r\n"
    b"content-length: 28\r\n\r\nno complete request arrived\n"
)


async def unless_gone(work: Awaitable[_T], receive: Receive) -> _T:
    """Return what the work gives, unless the client closes first. Raises ClientDisconnect then."""
    working = asyncio.ensure_future(work)
    gone = asyncio.create_task(_until_gone(receive))
    try:
        await asyncio.wait((working, gone), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        for task in (working, gone):
            task.cancel()
        await asyncio.gather(working, gone, return_exceptions=True)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def server_tls(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return the context of a server. Raises OSError or ValueError where the files are no pair."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key, password=_no_password)
    return context


def _with_one_length(app: ASGIApp) -> ASGIApp:
    """Refuse a body with two lengths: a proxy before us may have gone by the other one."""

    async def checked(scope: Scope, receive: Receive, send: Send) -> None:
        names = {name for name, _ in scope["headers"]}
        if {b"content-length", b"transfer-encoding"} <= names:
            text, headers = "a body has one length: omit Content-Length\n", {"connection": "close"}
            await PlainTextResponse(text, 400, headers)(scope, receive, send)
        else:
            await app(scope, receive, send)

    return checked


class BoundedConfig(uvicorn.Config):
    """Settings of a server with at most ``max_connections``, each with ``patience_s`` a step.

    Half of the files that the process may open are left to others, whatever ``max_connections``
    says. ``options`` are uvicorn's own.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        tls: ssl.SSLContext | None,
        max_connections: int,
        patience_s: float,
        **options: Any,
    ) -> None:
        super().__init__(
            _with_one_length(app),
            http=BoundedProtocol,
            ws="none",
            lifespan="off",
            interface="asgi3",
            loop="asyncio",
            proxy_headers=False,  # who asks is never taken from a header
            server_header=False,
            date_header=False,
            access_log=False,
            log_config=None,  # our own log is set up
            **options,
        )
        self.tls = tls
        self.max_connections = min(max_connections, _num_files() // 2)
        self.patience_s = patience_s
        self.load()


class BoundedProtocol(H11Protocol):
    """One connection: its TLS handshake, its requests and its answers."""

    config: BoundedConfig

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._socket = transport  # below TLS
        self._is_open = False  # after the TLS handshake
        self._early = b""
        self._timer: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self.address = _address_of(transport)
        self.made_at = self.loop.time()
        self.connections.add(self)
        self._make_room()
        self._start_timer()
        if self.config.tls is None:
            self._open(transport)
        else:
            self._handshake = self.loop.create_task(self._shake_hands(self.config.tls))

    @property
    def waits_for_client(self) -> bool:
        """Whether the next step is the client's: all but an answer to a complete request."""
        return not self._is_answering() or self.cycle.more_body

    def data_received(self, data: bytes) -> None:
        if not self._is_open:  # the handshake's end is not noticed yet
            self._early += data
            return
        super().data_received(data)
        if self._is_answering():
            self._stop_timer()
        elif self._timer is None:
            self._start_timer()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(self.config.patience_s, self.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_unread()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self._stop_unread()
        self.connections.discard(self)
        if self._is_open:
            super().connection_lost(exc)

    def shutdown(self) -> None:
        if self._is_open:
            super().shutdown()
        else:
            self.abort()

    def abort(self) -> None:
        """Close the connection now, whatever it has not sent yet."""
        self.connections.discard(self)
        self._socket.abort()

    def _make_room(self) -> None:
        """Where there are too many connections, abort one that waits for its client.

        It is the oldest of the address that has the most of these. So whoever opens many loses
        their own. Health checks find a place however many there are.
        """
        if len(self.connections) <= self.config.max_connections:
            return
        ours = cast("set[BoundedProtocol]", self.connections)
        waiting = [each for each in ours if each.waits_for_client]
        num_of = Counter(each.address for each in waiting)
        max(waiting, key=lambda each: (num_of[each.address], -each.made_at)).abort()

    def _open(self, transport: asyncio.Transport) -> None:
        self._is_open = True
        super().connection_made(transport)

    async def _shake_hands(self, tls: ssl.SSLContext) -> None:
        try:
            secured = await self.loop.start_tls(self._socket, self, tls, server_side=True)
        except OSError:  # of TLS, too
            secured = None
        if secured is None or self._socket.is_closing():
            self.abort()
            self.connection_lost(None)
            return
        self._open(secured)
        early, self._early = self._early, b""
        if early:
            self.data_received(early)

    def _is_answering(self) -> bool:
        # uvicorn declares the cycle as never None, but it is before the first request.
        return bool(self.cycle) and not self.cycle.response_complete

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(self.config.patience_s, self._give_up)

    def _give_up(self) -> None:
        self._timer = None
        if self._is_answering():
            return
        if not self._is_open:
            self.abort()
            return
        if not self.transport.is_closing():
            self.transport.write(_LATE)
            self.transport.close()
        self._timer = self.loop.call_later(self.config.patience_s, self.abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _stop_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None


def _address_of(transport: asyncio.BaseTransport) -> bytes:
    """Return whom to count a connection for: an IPv4 address, or a network of IPv6 (/64)."""
    peer = transport.get_extra_info("peername")
    if not isinstance(peer, tuple):
        return b""  # it has gone already
    address = ipaddress.ip_address(peer[0].partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        return address.ipv4_mapped.packed if address.ipv4_mapped else address.packed[:8]
    return address.packed


def _num_files() -> int:
    """Return how many files the process may open."""
    if sys.platform == "win32":
        return 8_192
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft


def _no_password() -> NoReturn:
    raise ValueError("the key is encrypted")  # else OpenSSL asks on the terminal
