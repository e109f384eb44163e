"""HTTP/1.1 to one server by httpcore2. Every wait can be cancelled and has an end.

httpcore2 follows no redirects, keeps no cookies, unpacks no bodies and asks no proxy of the
environment. Its sockets are ours: it cannot be cancelled from outside without a thread of its own,
and the hand-over of each piece to another thread takes longer than all else.
"""

import selectors
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

import httpcore2

from intarsia.engine.errors import RemoteError
from intarsia.engine.remote.http.remotes import Remote

POLL_S = 0.02
"""A cancelled request is noticed after this time at most."""

CONNECT_LIMIT_S = 4.0
"""A server that is up accepts a connection within this time, wherever it is."""

MAX_KEPT = 2
"""A user's fills follow each other. Each idle connection may hold a thread of the server."""

MAX_IDLE_S = 4.0
"""Many servers end a connection that was idle for 5 s; one ended meanwhile costs a second try."""

END_LIMIT_S = 0.1
"""A complete answer ends within this time, or its connection is closed."""

LOOPBACK = ("127.0.0.1", "::1")
"""Plain HTTP to localhost stays on this machine, whatever a name server says of that name."""

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
    """The limits that an exchange obeys while it waits and while data come, and what it saw.

    ``checkpoint`` is called about every ``POLL_S`` seconds; it raises what ends the exchange, and
    may itself take long. ``silence_s`` is how long the server may send nothing, ``total_s`` how
    long the whole exchange may take, checkpoints apart.
    """

    checkpoint: Callable[[], None]
    silence_s: float
    total_s: float
    has_connected: bool = False  # the connection is a new one
    has_heard: bool = False  # a byte of the answer has come
    has_ended: bool = False  # the server sends nothing more
    _ends_at: float = field(init=False)
    _heard_at: float = field(default_factory=time.monotonic)
    _looked_at: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._ends_at = self._heard_at + self.total_s

    def heard(self) -> None:
        """Record that the server did something now."""
        self._heard_at = time.monotonic()

    def end_soon(self) -> None:
        """Leave the server a moment for the end of its answer."""
        self.checkpoint = lambda: None
        self.heard()
        self._ends_at = self._heard_at + END_LIMIT_S
        self.silence_s = END_LIMIT_S

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

    def wait(self, sock: socket.socket, event: int) -> None:
        """Return once the socket is ready. Raises SilentServer, and what ``look`` raises."""
        with _Selector() as selector:
            selector.register(sock, event)
            while not selector.select(POLL_S):
                self.look()
                # A checkpoint may have taken long: what came in this time counts.
                if time.monotonic() - self._heard_at > self.silence_s and not selector.select(0):
                    raise SilentServer
        self.heard()


@dataclass(kw_only=True, slots=True)
class Answer:
    """The answer's status and headers (lower-case names), and its body, as it comes.

    A reader sets ``has_said_all`` where only the end of the body is still to come.
    """

    status: int
    headers: dict[str, str]
    body: Iterator[bytes]
    has_said_all: bool = False


class KeptConnections:
    """The connections to one server. At most ``max_kept`` of them wait for a request."""

    def __init__(self, remote: Remote, max_kept: int = MAX_KEPT) -> None:
        self._remote = remote
        self._pool = _Pool(remote, max_kept)

    @contextmanager
    def exchange(
        self, path: str, headers: Sequence[tuple[str, str]], content: bytes, watch: Watch
    ) -> Iterator[Answer]:
        """Send a POST, or a GET without content, and yield its answer; leaving early cancels it.

        Raises RemoteProtocolError, OSError, SilentServer, EndlessAnswer, RemoteError, and what the
        checkpoint raises.
        """
        address = self._remote.address
        request = httpcore2.Request(
            "POST" if content else "GET",
            # For httpcore2 it is plain HTTP: the sockets have TLS already.
            httpcore2.URL(
                scheme="http",
                host=address.host,
                port=address.port,
                target=address.base_path + path,
            ),
            headers=headers,
            content=content,
            extensions={"timeout": dict.fromkeys(("connect", "read", "write"), watch)},
        )
        watch.has_connected = watch.has_heard = watch.has_ended = False
        response = self._answered(request, watch)
        try:
            named = {
                str(name, "latin-1").lower(): str(it, "latin-1") for name, it in response.headers
            }
            body = response.iter_stream()
            answer = Answer(status=response.status, headers=named, body=body)
            try:
                yield answer
            finally:
                if answer.has_said_all:
                    _read_to_end(body, watch)
        finally:
            response.close()

    def _answered(self, request: httpcore2.Request, watch: Watch) -> httpcore2.Response:
        """Send a request on a kept connection, or if that has ended on a new one."""
        while True:
            try:
                return self._pool.handle_request(request)
            except (httpcore2.RemoteProtocolError, OSError):
                if watch.has_connected or watch.has_heard:
                    raise

    def close(self) -> None:
        """Close those that wait for a request; later ones may be kept again."""
        for connection in self._pool.connections:
            if connection.is_idle():
                connection.close()

    def __del__(self) -> None:
        """Close what is left where a remote is given up."""
        self.close()


def _read_to_end(body: Iterator[bytes], watch: Watch) -> None:
    watch.end_soon()
    with suppress(httpcore2.RemoteProtocolError, OSError, SilentServer, EndlessAnswer):
        for _ in body:
            pass


class _Pool(httpcore2.ConnectionPool):
    def __init__(self, remote: Remote, max_kept: int) -> None:
        super().__init__(max_connections=None, max_keepalive_connections=max_kept)
        self._sockets = _Sockets(remote)

    def create_connection(self, origin: httpcore2.Origin) -> httpcore2.ConnectionInterface:
        return _Connection(origin, keepalive_expiry=MAX_IDLE_S, network_backend=self._sockets)


class _Connection(httpcore2.HTTPConnection):
    """Takes nothing that came with an answer for the next one, as httpcore2 2.16 itself does."""

    def has_expired(self) -> bool:
        http = self._connection
        has_more = isinstance(http, httpcore2.HTTP11Connection) and http._h11_state.trailing_data[0]
        return bool(has_more) or super().has_expired()


class _Sockets(httpcore2.NetworkBackend):
    def __init__(self, remote: Remote) -> None:
        self._remote = remote

    def connect_tcp(
        self, host: str, port: int, timeout: Any = None, *_: Any, **__: Any
    ) -> httpcore2.NetworkStream:
        """Connect on a thread, as nothing can end the look-up of a name. Raises RemoteError."""
        watch: Watch = timeout
        watch.has_connected = True
        came = SimpleQueue[socket.socket | Exception]()
        is_left = threading.Event()

        def run() -> None:
            try:
                sock = connect(self._remote)
            except Exception as error:  # noqa: BLE001 raised again below
                came.put(error)
            else:
                sock.close() if is_left.is_set() else came.put(sock)

        threading.Thread(target=run, name="connect", daemon=True).start()
        ends_at = time.monotonic() + 3 * CONNECT_LIMIT_S
        try:
            while True:
                with suppress(Empty):
                    found = came.get(timeout=POLL_S)
                    break
                watch.look()
                if time.monotonic() > ends_at and came.empty():
                    raise _unreachable(self._remote, "no answer")
        except BaseException:
            is_left.set()
            raise
        if isinstance(found, Exception):
            raise found
        watch.heard()
        return _Stream(found)


class _Stream(httpcore2.NetworkStream):
    """A connected socket. As its time limit it takes the watch of an exchange."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def read(self, max_bytes: int, timeout: Any = None) -> bytes:
        try:
            data: bytes = _soon(
                self._sock, timeout, selectors.EVENT_READ, partial(self._sock.recv, max_bytes)
            )
        except ssl.SSLEOFError:
            data = b""
        timeout.has_ended = not data
        timeout.has_heard |= bool(data)
        return data

    def write(self, buffer: bytes, timeout: Any = None) -> None:
        rest = memoryview(buffer)
        while rest:
            send = partial(self._sock.send, rest)
            rest = rest[_soon(self._sock, timeout, selectors.EVENT_WRITE, send) :]

    def close(self) -> None:
        self._sock.close()

    def get_extra_info(self, info: str) -> Any:
        """Return whether the server has sent anything or ended the connection, if asked that."""
        if info != "is_readable":
            return None
        try:
            self._sock.recv(1)
        except (ssl.SSLWantReadError, BlockingIOError):
            return False
        except OSError:
            pass
        return True


def _soon(sock: socket.socket, watch: Watch, event: int, act: Callable[[], Any]) -> Any:
    """Act once the socket is ready. Raises OSError, and what the watch raises."""
    while True:
        watch.look()
        try:
            return act()
        except ssl.SSLWantReadError:
            watch.wait(sock, selectors.EVENT_READ)
        except ssl.SSLWantWriteError:
            watch.wait(sock, selectors.EVENT_WRITE)
        except BlockingIOError:
            watch.wait(sock, event)


def connect(remote: Remote) -> socket.socket:
    """Return a socket that does not block, with TLS if the URL says so. Raises RemoteError."""
    address = remote.address
    is_local = address.host == "localhost" and not address.is_https
    for host in LOOPBACK if is_local else (address.host,):
        try:
            sock = socket.create_connection((host, address.port), CONNECT_LIMIT_S)
            break
        except (socket.gaierror, UnicodeError) as error:
            raise RemoteError(
                f"remote:{remote.name} cannot be reached: the host {address.host} was not found "
                f"({getattr(error, 'strerror', error)}): correct the url, or connect to its network"
            ) from error
        except OSError as error:
            last = "no answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
    else:
        raise _unreachable(remote, last)
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if address.is_https:
            sock = _secured(sock, remote)
        sock.setblocking(False)
    except BaseException:
        sock.close()
        raise
    return sock


def _unreachable(remote: Remote, why: str) -> RemoteError:
    return RemoteError(
        f"remote:{remote.name} cannot be reached at {remote.address.shown} ({why}): start that "
        "server, or correct the url"
    )


def _secured(sock: socket.socket, remote: Remote) -> ssl.SSLSocket:
    """Return the socket with TLS. Raises RemoteError for a certificate that is not accepted."""
    try:
        return tls_context(remote).wrap_socket(sock, server_hostname=remote.address.host)
    except ssl.SSLCertVerificationError as error:
        raise RemoteError(
            f"the certificate of {remote.shown} is not accepted "
            f"({error.verify_message.rstrip('.')}): renew it on the server, or name its authority "
            "with `ca`",
            "model",
        ) from error
    except OSError as error:
        reason = getattr(error, "reason", None) or "it does not answer"
        raise RemoteError(
            f"{remote.shown} does not speak TLS ({reason}): check that the server serves https "
            "there"
        ) from error


def tls_context(remote: Remote) -> ssl.SSLContext:
    """Return what checks the server's certificate. Raises RemoteError for an unusable ``ca``."""
    try:
        return ssl.create_default_context(cafile=None if remote.ca is None else str(remote.ca))
    except (OSError, ssl.SSLError) as error:
        reason = error.strerror or str(error)
        raise RemoteError(
            f"the file ca of remote:{remote.name}, {remote.ca}, cannot be read ({reason}): give a "
            "PEM file with the server's authority",
            "model",
        ) from error
