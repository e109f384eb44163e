"""One HTTP request to a server and its answer, over h11. Leaving the block closes the connection.

Redirects are not followed, and no proxy of the environment is used: code and key go to the named
host only. A new connection for each request: closing it is how a request is cancelled.
"""

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import h11

from intarsia.engine.errors import RemoteError
from intarsia.engine.remote.http.connect import Wire, connect
from intarsia.engine.remote.http.statuses import require_success
from intarsia.engine.remote.http.watch import SilentServer, Watch
from intarsia.engine.remote.settings.remotes import Remote

MAX_ANSWER_BYTES = 16 * 1024 * 1024
"""An answer above this is no answer to a fill."""

_MAX_HEADER_BYTES = 64 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The answer's status and headers (lower-case names), and its body, as it comes."""

    status: int
    headers: dict[str, str]
    body: Iterator[bytes]


def ask_json(remote: Remote, path: str, watch: Watch, body: object = None) -> Any:
    """Return the answer's JSON: to a GET, or to a POST of ``body``. Raises RemoteError."""
    with open_exchange(remote, path, watch, body) as answer:
        require_success(remote, path, answer.status, answer.headers, answer.body)
        raw = b"".join(answer.body)
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise unusable(remote, f"{path} is no JSON") from error


def ask_events(remote: Remote, path: str, watch: Watch, body: object) -> Generator[bytes]:
    """Yield the data of each server-sent event in the answer to a POST. Raises RemoteError.

    Closing the iterator cancels the request.
    """
    with open_exchange(remote, path, watch, body) as answer:
        require_success(remote, path, answer.status, answer.headers, answer.body)
        if not answer.headers.get("content-type", "").startswith("text/event-stream"):
            raise unusable(remote, f"{path} is no stream of events")
        yield from _event_data(answer.body)


def ask_lines(remote: Remote, path: str, watch: Watch, body: object) -> Generator[bytes]:
    """Yield each line of the answer to a POST, blank ones left out. Raises RemoteError.

    Closing the iterator cancels the request.
    """
    with open_exchange(remote, path, watch, body) as answer:
        require_success(remote, path, answer.status, answer.headers, answer.body)
        yield from filter(None, map(bytes.strip, _lines(answer.body)))


def ask_whole(remote: Remote, path: str, watch: Watch, body: object) -> Generator[bytes]:
    """Yield the whole answer to a POST at once. Raises RemoteError."""
    with open_exchange(remote, path, watch, body) as answer:
        require_success(remote, path, answer.status, answer.headers, answer.body)
        yield b"".join(answer.body)


def unusable(remote: Remote, problem: str, *, is_cut_off: bool = False) -> RemoteError:
    """Return the error for an answer that is not what such a server sends, or not whole."""
    return RemoteError(
        f"the answer of remote:{remote.name} at {remote.address.shown} is unusable ({problem}): "
        "check that the url is that of an inference server",
        is_cut_off=is_cut_off,
    )


@contextmanager
def open_exchange(remote: Remote, path: str, watch: Watch, body: object = None) -> Iterator[Answer]:
    """Send a request and yield its answer. Raises RemoteError, and what the checkpoint raises."""
    key = remote.key()
    try:
        wire = connect(remote, watch)
    except SilentServer:
        raise _silent(remote) from None
    try:
        yield _exchange(remote, wire, path, key, body)
    except h11.RemoteProtocolError as error:
        problem = f"{path} is no HTTP, or was cut off"
        raise unusable(remote, problem, is_cut_off=wire.has_ended) from error
    except SilentServer:
        raise _silent(remote) from None
    except OSError as error:
        raise RemoteError(
            f"remote:{remote.name} at {remote.address.shown} ended the connection "
            f"({error.strerror or error}): look at the server's log",
            is_cut_off=True,
        ) from error
    finally:
        wire.close()


def _exchange(remote: Remote, wire: Wire, path: str, key: str | None, body: object) -> Answer:
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEADER_BYTES)
    content = b"" if body is None else json.dumps(body).encode()
    headers = [
        ("host", remote.address.shown),
        ("connection", "close"),
        ("accept-encoding", "identity"),
        ("user-agent", "intarsia"),
    ]
    if key is not None:
        headers.append(("authorization", f"Bearer {key}"))
    if body is not None:
        headers += [("content-type", "application/json"), ("content-length", str(len(content)))]
    request = h11.Request(
        method="GET" if body is None else "POST",
        target=remote.address.base_path + path,
        headers=headers,
    )
    pieces = [connection.send(request)]
    if content:
        pieces.append(connection.send(h11.Data(data=content)))
    pieces.append(connection.send(h11.EndOfMessage()))
    wire.send(b"".join(piece for piece in pieces if piece))
    response = _next_response(connection, wire)
    names = {name.decode("latin-1"): value.decode("latin-1") for name, value in response.headers}
    return Answer(status=response.status_code, headers=names, body=_body(remote, connection, wire))


def _next_response(connection: h11.Connection, wire: Wire) -> h11.Response:
    while True:
        event = _next_event(connection, wire)
        if isinstance(event, h11.Response):
            return event
        if not isinstance(event, h11.InformationalResponse):
            raise h11.RemoteProtocolError("no response")


def _body(remote: Remote, connection: h11.Connection, wire: Wire) -> Iterator[bytes]:
    num_bytes = 0
    while isinstance(event := _next_event(connection, wire), h11.Data):
        num_bytes += len(event.data)
        if num_bytes > MAX_ANSWER_BYTES:
            raise unusable(remote, f"above {MAX_ANSWER_BYTES // 1024**2} MB")
        yield bytes(event.data)


def _next_event(
    connection: h11.Connection, wire: Wire
) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
    while (event := connection.next_event()) is h11.NEED_DATA:
        connection.receive_data(wire.receive())
    return event


def _event_data(body: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the data of each event: lines of the form ``data: …``, one for each event."""
    for line in _lines(body):
        if line.startswith(b"data:"):
            yield line[5:].strip()
        elif line.startswith(b"error:"):
            yield line[6:].strip()


def _lines(body: Iterator[bytes]) -> Iterator[bytes]:
    """Yield each whole line without its line end."""
    rest = b""
    for piece in body:
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines


def _silent(remote: Remote) -> RemoteError:
    return RemoteError(
        f"remote:{remote.name} at {remote.address.shown} is too slow: it sent nothing for "
        f"{remote.timeout_s:g} s; use a smaller model there, or raise timeout_s"
    )
