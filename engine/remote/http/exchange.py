"""One HTTP request to a server and its answer. Leaving its block early cancels the request.

Redirects are not followed, and no proxy of the environment is used: code and key go to the named
host only. A request is cancelled by closing its connection; after a whole answer, the next request
may use it.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

import httpcore2
import msgspec

from intarsia.engine.errors import RemoteError
from intarsia.engine.remote.http.connections import (
    Answer,
    EndlessAnswer,
    KeptConnections,
    SilentServer,
    Watch,
)
from intarsia.engine.remote.http.remotes import Remote

_MAX_SAID_CHARS = 200
_MAX_ERROR_BYTES = 16 * 1024
_MAX_RETRY_AFTER_S = 300.0
_OF_A_PROXY = (500, 502, 504)
"""A proxy sends one of these, without a reason in JSON, for a server that has ended."""

MAX_ANSWER_BYTES = 16 * 1024 * 1024
"""An answer above this is no answer to a fill."""


def ask_json(
    remote: Remote,
    path: str,
    watch: Watch,
    body: object = None,
    kept: KeptConnections | None = None,
) -> Any:
    """Return the answer's JSON: to a GET, or to a POST of ``body``. Raises RemoteError."""
    with open_exchange(remote, path, watch, body, kept) as answer:
        require_success(remote, path, answer)
        raw = b"".join(answer.body)
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise unusable(remote, f"{path} is no JSON") from error


def unusable(remote: Remote, problem: str, *, is_cut_off: bool = False) -> RemoteError:
    """Return the error for an answer that is not what such a server sends, or not whole."""
    return RemoteError(
        f"the answer of {remote.shown} is unusable ({problem}): "
        "check that the url is that of an inference server",
        is_cut_off=is_cut_off,
    )


@contextmanager
def open_exchange(
    remote: Remote,
    path: str,
    watch: Watch,
    body: object = None,
    kept: KeptConnections | None = None,
) -> Iterator[Answer]:
    """Send a request and yield its answer. Raises RemoteError, and what the checkpoint raises.

    After the block the connection goes to ``kept`` if the server has nothing more to say.
    """
    content = b"" if body is None else msgspec.json.encode(body)
    headers = _headers(remote, content, is_kept=kept is not None)
    connections = KeptConnections(remote, max_kept=0) if kept is None else kept
    try:
        with connections.exchange(path, headers, content, watch) as answer:
            answer.body = _bounded(remote, answer.body)
            yield answer
    except httpcore2.RemoteProtocolError as error:
        problem = f"{path} is no HTTP, or was cut off"
        raise unusable(remote, problem, is_cut_off=watch.has_ended) from error
    except SilentServer:
        raise _too_slow(remote, f"it sent nothing for {remote.timeout_s:g} s") from None
    except EndlessAnswer:
        raise _too_slow(remote, f"its answer did not end in {watch.total_s:g} s") from None
    except OSError as error:
        raise RemoteError(
            f"{remote.shown} ended the connection "
            f"({error.strerror or error}): look at the server's log",
            is_cut_off=True,
        ) from error


def _headers(remote: Remote, content: bytes, *, is_kept: bool) -> list[tuple[str, str]]:
    """Return the headers of a request. Raises RemoteError for the key."""
    headers = [
        ("host", remote.address.shown),
        ("connection", "keep-alive" if is_kept else "close"),
        ("accept-encoding", "identity"),
        ("user-agent", "intarsia"),
    ]
    if (key := remote.key()) is not None:
        headers.append(("authorization", f"Bearer {key}"))
    if content:
        headers += [("content-type", "application/json"), ("content-length", str(len(content)))]
    return headers


def _bounded(remote: Remote, body: Iterator[bytes]) -> Iterator[bytes]:
    num_bytes = 0
    for data in body:
        num_bytes += len(data)
        if num_bytes > MAX_ANSWER_BYTES:
            raise unusable(remote, f"above {MAX_ANSWER_BYTES // 1024**2} MB")
        yield data


def _too_slow(remote: Remote, why: str) -> RemoteError:
    return RemoteError(
        f"{remote.shown} is too slow: {why}; use a smaller model there, or raise timeout_s"
    )


def require_success(remote: Remote, path: str, answer: Answer) -> None:
    """Raise RemoteError for any status but 200 and 202. An error's body is read as its reason."""
    status = answer.status
    if status in (200, 202):
        return
    said, where = _said(answer.body), remote.shown
    if status in (401, 403, 407):
        advice = "renew the key in its key_file" if remote.key_file else "set key_file"
        raise RemoteError(f"{where} refuses the key (status {status}{said}): {advice}", "model")
    if status in (429, 503):
        retry_after_s = _retry_after_s(answer.headers.get("retry-after"))
        later = "later" if retry_after_s is None else f"in {retry_after_s:.0f} s"
        raise RemoteError(
            f"{where} is busy (status {status}{said}): try again {later}",
            "busy",
            retry_after_s=retry_after_s,
        )
    if 300 <= status < 400:
        raise RemoteError(
            f"{where} sends to another address (status {status}): write that address as url, if "
            "it is the right one",
            "model",
        )
    if status in (404, 405):
        raise RemoteError(
            f"{where} does not know {path} (status {status}): check that the url is that of an "
            "inference server, and `model`",
            "model",
        )
    kind = "refuses the request" if status < 500 else "failed"
    raise RemoteError(
        f"{where} {kind} (status {status}{said}): look at the server's log",
        is_cut_off=status in _OF_A_PROXY and not said,
    )


def _said(body: Iterator[bytes]) -> str:
    """Return what the server says of its error as one short line, after a comma."""
    raw = b""
    for piece in body:
        raw += piece
        if len(raw) > _MAX_ERROR_BYTES:
            break
    try:
        message = json.loads(raw)
    except (ValueError, RecursionError):
        return ""
    for key in ("error", "message", "detail"):
        if isinstance(message, dict) and key in message:
            message = message[key]
    if not isinstance(message, str):
        return ""
    line = " ".join("".join(c if c.isprintable() else " " for c in message).split())
    return f", {line[:_MAX_SAID_CHARS]}" if line else ""


def _retry_after_s(value: str | None) -> float | None:
    """Return the seconds of a Retry-After header, which has a number or a date."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time()
        except (ValueError, OverflowError):
            return None
    return min(max(seconds, 0.0), _MAX_RETRY_AFTER_S) if seconds == seconds else None
