"""What a remote server sends over a real socket: any bytes of HTTP."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from harness.byte_reader import ByteReader
from harness.remote_dialects import EVENTS, READERS, REMOTE, read
from harness.target import Target

from intarsia.engine.errors import RemoteError
from intarsia.engine.remote.fill.link import pieces
from intarsia.engine.remote.http.connection import HttpConnection
from intarsia.engine.remote.http.exchange import ask_json, open_exchange
from intarsia.engine.remote.http.wire import Watch, Wire

KINDS = tuple(READERS)
STATUSES = (b"200 OK", b"202 Accepted", b"301 Moved", b"401 No", b"404 No", b"429 Busy", b"500 No")
STATUSES += (b"503 Busy\r\nRetry-After: 5", b"503 Busy\r\nRetry-After: Mon, 01 Jan 0001", b"999 ?")
LENGTHS = (b"Connection: close", b"Transfer-Encoding: chunked", b"Content-Length: 40")


class _Answered:
    """Hands out one connection, to which the server has answered already."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def take(self, watch: Watch) -> HttpConnection:
        """Return the connection."""
        return HttpConnection(Wire(self._sock, watch))

    def keep(self, connection: HttpConnection, *, has_said_all: bool) -> None:
        """Use it for no other request."""
        connection.can_go_on()
        connection.close()


@contextmanager
def _served(answer: bytes) -> Iterator[_Answered]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        theirs.sendall(answer)
        theirs.shutdown(socket.SHUT_WR)
        yield _Answered(ours)


def check(data: bytes) -> None:
    """Read an answer as a stream, and as JSON."""
    reader = ByteReader(data)
    kind, is_framed = reader.pick(KINDS), reader.byte() & 1
    answer = _http(reader) if is_framed else b"HTTP/1.1 " + reader.rest()
    watch = Watch(checkpoint=lambda: None, silence_s=5, total_s=5)
    for ask in (_ask_stream, _ask_json):
        with _served(answer) as kept:
            try:
                ask(kind, watch, kept)
            except RemoteError as error:
                assert "\n" not in str(error)
                assert str(error).isprintable()
                assert len(str(error)) < 1_000


def _http(reader: ByteReader) -> bytes:
    status, length, event = reader.pick(STATUSES), reader.pick(LENGTHS), reader.pick(EVENTS)
    body = b"data: " + event + b"\n\n" + reader.bytes(reader.byte())
    if length.endswith(b"chunked"):
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    head = b"HTTP/1.1 %s\r\nContent-Type: text/event-stream\r\n%s\r\n" % (status, length)
    return head + reader.bytes(reader.byte() % 32) + b"\r\n" + body + reader.rest()


def _ask_stream(kind: str, watch: Watch, kept: _Answered) -> None:
    form, parse = READERS[kind]
    with open_exchange(REMOTE, "/fill", watch, {}, kept) as answer:  # type: ignore[arg-type]
        for data in pieces(REMOTE, "/fill", answer, form):
            read(parse, data)


def _ask_json(_kind: str, watch: Watch, kept: _Answered) -> None:
    ask_json(REMOTE, "/tokenize", watch, {}, kept)  # type: ignore[arg-type]


TARGET = Target(
    about="HTTP of remote servers, over a socket",
    check=check,
    seeds=[
        *(
            bytes([0, 1, status, length, 3, 4]) + b"abcd\x03x: y"
            for status in range(10)
            for length in range(3)
        ),
        b"\x00\x00200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b'\x01\x00200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n3\r\n 1}\r\n0\r\n\r\n',
        b"\x05\x00100 Continue\r\n\r\nHTTP/1.1 503 B\r\nRetry-After: 31 Dec 9999 23:59:60\r\n\r\n",
    ],
    watched=["intarsia.engine.remote", "h11"],
    weight=4,
    max_bytes=320,
)
