"""A real HTTP(S) server on loopback with answers of the test, to show faults to our client."""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from checkout import ROOT

CERTIFICATES = ROOT / "tests" / "data" / "certificates"
Respond: TypeAlias = Callable[[str, bytes, socket.socket], None]
"""Takes a request's path and body, and its connection; writes the answer."""


@dataclass(kw_only=True)
class FaultyServer:
    """A running server and what it was asked."""

    url: str
    heads: list[bytes] = field(default_factory=list)
    num_connections: int = 0
    num_closed_early: int = 0  # answers during which the client closed its connection

    def until_closed_early(self, number: int) -> None:
        """Wait until the client has closed so many connections during their answers."""
        end = time.monotonic() + 20
        while self.num_closed_early != number:
            assert time.monotonic() < end
            time.sleep(0.01)

    def paths(self) -> list[str]:
        return [head.split(b" ", 2)[1].decode() for head in self.heads]


def tls(certificate: str = "valid") -> ssl.SSLContext:
    """Return what a server with this certificate of ``CERTIFICATES`` speaks."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / f"{certificate}.pem", CERTIFICATES / "server.key")
    return context


@contextlib.contextmanager
def serving(
    respond: Respond, tls: ssl.SSLContext | None = None, *, keeps_open: bool = False
) -> Iterator[FaultyServer]:
    """Answer every connection by ``respond`` on its own thread until the block ends.

    With ``keeps_open``, further requests on a connection are answered until the client closes it.
    """
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        server = FaultyServer(url=f"http{'s' if tls else ''}://127.0.0.1:{port}")

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    server.num_connections += 1
                    threading.Thread(target=handle, args=[connection], daemon=True).start()

        def answer_one(connection: socket.socket) -> None:
            head, body = _read_request(connection)
            server.heads.append(head)
            respond(head.split(b" ", 2)[1].decode(), body, connection)

        def handle(connection: socket.socket) -> None:
            try:
                if tls is not None:
                    connection = tls.wrap_socket(connection, server_side=True)
                with connection:
                    answer_one(connection)
                    while keeps_open:
                        answer_one(connection)
            except OSError:
                server.num_closed_early += 1

        threading.Thread(target=accept, daemon=True).start()
        yield server
        listener.shutdown(socket.SHUT_RDWR)


def answer(connection: socket.socket, body: bytes, *, status: int = 200, headers: str = "") -> None:
    head = f"HTTP/1.1 {status} Said\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    connection.sendall(head.encode() + body)


def begin_events(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")


def silence(connection: socket.socket) -> None:
    """Send nothing until the client closes the connection."""
    while connection.recv(1):
        time.sleep(0.01)
    raise ConnectionResetError


def _read_request(connection: socket.socket) -> tuple[bytes, bytes]:
    raw = b""
    while b"\r\n\r\n" not in raw:
        piece = connection.recv(65_536)
        if not piece:
            raise ConnectionResetError
        raw += piece
    head, _, body = raw.partition(b"\r\n\r\n")
    lengths = [
        line[15:] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")
    ]
    while lengths and len(body) < int(lengths[0]):
        body += connection.recv(65_536)
    return head, body


class Script:
    """Answers each request with the next answer, and notes the requests."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.requests: list[dict[str, Any]] = []

    def __call__(self, request: dict[str, Any]) -> Any:
        self.requests.append(request)
        return self._answers.pop(0)
