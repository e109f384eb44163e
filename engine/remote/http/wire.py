"""Connect to a server, by TLS if its URL says so. Every wait can be cancelled and has an end."""

import contextlib
import errno
import ipaddress
import os
import selectors
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from intarsia.engine.errors import RemoteError
from intarsia.engine.remote.settings.remotes import Remote

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
        """Return once the socket is ready. Raises SilentServer, and what ``look`` raises."""
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


CONNECT_LIMIT_S = 4.0
"""A server that is up accepts within this time, from anywhere."""

_RECEIVE_BYTES = 64 * 1024
_IN_PROGRESS = (0, errno.EINPROGRESS, errno.EWOULDBLOCK, getattr(errno, "WSAEWOULDBLOCK", 0))


class Wire:
    """A connected socket that sends and receives under a watch: that of its exchange."""

    def __init__(self, sock: socket.socket, watch: Watch) -> None:
        self.has_ended = False  # the server sends nothing more
        self.watch = watch
        self._sock = sock

    def send(self, data: bytes) -> None:
        """Send all of these bytes. Raises OSError, and what the watch raises."""
        rest = memoryview(data)
        while rest:
            self.watch.look()
            try:
                rest = rest[self._sock.send(rest) :]
            except (ssl.SSLWantWriteError, BlockingIOError):
                self.watch.wait(self._sock, for_write=True)
            except ssl.SSLWantReadError:
                self.watch.wait(self._sock)

    def receive(self) -> bytes:
        """Return the next bytes, none at the end. Raises OSError, and what the watch raises."""
        while True:
            self.watch.look()
            try:
                data = self._sock.recv(_RECEIVE_BYTES)
            except (ssl.SSLWantReadError, BlockingIOError):
                self.watch.wait(self._sock)
                continue
            except ssl.SSLWantWriteError:
                self.watch.wait(self._sock, for_write=True)
                continue
            except ssl.SSLEOFError:
                data = b""  # h11 tells whether the answer was whole
            self.has_ended = not data
            return data

    def receive_now(self) -> bytes | None:
        """Return what has come already, None if nothing has. No bytes: the server has ended it."""
        try:
            data = self._sock.recv(_RECEIVE_BYTES)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
            return None
        except OSError:
            data = b""
        self.has_ended = not data
        return data

    def close(self) -> None:
        """Close at once, whatever the server is doing: that cancels its work."""
        self._sock.close()


def connect(remote: Remote, watch: Watch) -> Wire:
    """Return a connection to the server. Raises RemoteError, and what the checkpoint raises."""
    address = remote.address
    last = "it has no address"
    for family, target in _resolve(remote, watch):
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.setblocking(False)
            last = _connect_one(sock, target, watch)
            if not last:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return Wire(_secured(sock, remote, watch) if address.is_https else sock, watch)
        except BaseException:
            sock.close()
            raise
        sock.close()
    raise RemoteError(
        f"remote:{remote.name} cannot be reached at {address.shown} ({last}): start that server, "
        "or correct the url"
    )


def _resolve(remote: Remote, watch: Watch) -> Sequence[tuple[socket.AddressFamily, Any]]:
    """Return families and targets. A name is looked up on a thread, as nothing can end that."""
    address = remote.address
    with contextlib.suppress(ValueError):
        number = ipaddress.ip_address(address.host)
        family = socket.AF_INET if number.version == 4 else socket.AF_INET6
        return [(family, (address.host, address.port))]
    found: list[tuple[socket.AddressFamily, Any]] = []
    problem: list[str] = []

    def look_up() -> None:
        try:
            rows = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        except OSError as error:
            problem.append(error.strerror or str(error))
        else:
            found.extend((family, target) for family, _, _, _, target in rows)

    thread = threading.Thread(target=look_up, name="look-up", daemon=True)
    thread.start()
    watch.heard()
    left = CONNECT_LIMIT_S
    while thread.is_alive() and left > 0:
        thread.join(0.02)
        left -= 0.02
        watch.checkpoint()
    if not found:
        reason = problem[0] if problem else "no answer to its name"
        raise RemoteError(
            f"remote:{remote.name} cannot be reached: the host {address.host} was not found "
            f"({reason}): correct the url, or connect to its network"
        )
    if address.is_https:
        return found
    return [row for row in found if ipaddress.ip_address(row[1][0]).is_loopback]


def _connect_one(sock: socket.socket, target: Any, watch: Watch) -> str:
    """Return why this address cannot be connected to, nothing if it is."""
    watch.heard()
    code = sock.connect_ex(target)
    if code not in _IN_PROGRESS:
        return os.strerror(code)
    try:
        watch.wait(sock, for_write=True, limit_s=CONNECT_LIMIT_S)
    except SilentServer:
        return "no answer"
    code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    return os.strerror(code) if code else ""


def _secured(sock: socket.socket, remote: Remote, watch: Watch) -> ssl.SSLSocket:
    """Return the socket with TLS. Raises RemoteError for a certificate that is not accepted."""
    host = remote.address.host
    secured = tls_context(remote).wrap_socket(
        sock, server_hostname=host, do_handshake_on_connect=False
    )
    try:
        _shake_hands(secured, remote, watch)
    except BaseException:
        secured.close()
        raise
    return secured


def _shake_hands(secured: ssl.SSLSocket, remote: Remote, watch: Watch) -> None:
    """Shake hands. Raises RemoteError for a certificate that is not accepted, or without TLS."""
    try:
        while not _try_handshake(secured, watch):
            pass
    except ssl.SSLCertVerificationError as error:
        raise RemoteError(
            f"the certificate of remote:{remote.name} at {remote.address.shown} is not "
            f"accepted ({error.verify_message.rstrip('.')}): renew it on the server, or name "
            "its authority with `ca`",
            "model",
        ) from error
    except (SilentServer, ssl.SSLError, OSError) as error:
        reason = getattr(error, "reason", None) or "it does not answer"
        raise RemoteError(
            f"remote:{remote.name} at {remote.address.shown} does not speak TLS ({reason}): "
            "check that the server serves https there"
        ) from error


def _try_handshake(secured: ssl.SSLSocket, watch: Watch) -> bool:
    """Return whether the handshake is complete; else the next try may get further."""
    try:
        secured.do_handshake()
    except ssl.SSLWantReadError:
        watch.wait(secured, limit_s=CONNECT_LIMIT_S)
    except ssl.SSLWantWriteError:
        watch.wait(secured, for_write=True, limit_s=CONNECT_LIMIT_S)
    else:
        return True
    return False


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
