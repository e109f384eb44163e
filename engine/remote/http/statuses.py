"""What a server's HTTP status means for the user: one reason each, and what to do."""

import json
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from time import time

from intarsia.engine.errors import RemoteError
from intarsia.engine.remote.settings.remotes import Remote

_MAX_SAID_CHARS = 200
_MAX_ERROR_BYTES = 16 * 1024
_MAX_RETRY_AFTER_S = 300.0

_OF_A_PROXY = (500, 502, 504)
"""Where the body has no reason in JSON, a proxy sends this for a server that has ended."""


def require_success(
    remote: Remote, path: str, status: int, headers: Mapping[str, str], body: Iterator[bytes]
) -> None:
    """Raise RemoteError for any status but 200 and 202. An error's body is read as its reason."""
    if status in (200, 202):
        return
    said = _said(body)
    where = f"remote:{remote.name} at {remote.address.shown}"
    if status in (401, 403, 407):
        advice = "renew the key in its key_file" if remote.key_file else "set key_file"
        raise RemoteError(f"{where} refuses the key (status {status}{said}): {advice}", "model")
    if status in (429, 503):
        retry_after_s = _retry_after_s(headers.get("retry-after"))
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
