"""Responses in the forms that clients read: JSON, server-sent events, and lines of JSON."""

from collections.abc import Iterable
from typing import Any

import msgspec
from starlette.responses import Response


def json_response(body: Any) -> Response:
    """Return a body as JSON, without blanks: some clients look for ``"content":"`` in it."""
    return Response(msgspec.json.encode(body) + b"\n", media_type="application/json")


def events_response(events: Iterable[Any], *, is_done_told: bool) -> Response:
    """Return server-sent events; with ``is_done_told`` OpenAI's ``[DONE]`` is the last one."""
    body = b"".join(b"data: " + msgspec.json.encode(event) + b"\n\n" for event in events)
    end = b"data: [DONE]\n\n" if is_done_told else b""
    return Response(body + end, media_type="text/event-stream", headers=_NOT_KEPT)


def lines_response(lines: Iterable[Any]) -> Response:
    """Return one JSON value in each line, as Ollama streams them."""
    body = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
    return Response(body, media_type="application/x-ndjson", headers=_NOT_KEPT)


_NOT_KEPT = {"Cache-Control": "no-store"}
