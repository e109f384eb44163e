"""Reads a request's body as JSON of a declared shape, within limits."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from intarsia.engine.ipc.plain_json import as_meant

OLLAMA_PATHS = "/api/"


class Refusal(Exception):
    """A refused request. The message is one line: what, and what to do."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers


def error_response(refusal: Refusal, path: str) -> Response:
    """Return the refusal in the form that clients of this path read.

    Ollama's clients read ``error`` as a text; those of OpenAI and llama.cpp read an object.
    """
    message = " ".join(str(refusal).split())
    if path.startswith(OLLAMA_PATHS):
        return JSONResponse({"error": message}, refusal.status, refusal.headers)
    kind = "invalid_request_error" if refusal.status < 500 else "server_error"
    error = {"code": refusal.status, "message": message, "type": kind}
    return JSONResponse({"error": error}, refusal.status, refusal.headers)


MAX_BODY_BYTES = 2 * 1024 * 1024
MAX_DISCARDED_BYTES = 16 * 1024 * 1024
"""A body that is too long is read up to here, so that its sender gets to read the refusal."""
READ_TIMEOUT_S = 10.0
_JSON = "application/json"

T = TypeVar("T")


async def read_json(request: Request, shape: type[T]) -> T:
    """Return the body. Raise Refusal; for a field of another type it names the field.

    Unknown fields are ignored. A browser sends JSON to another origin only after a preflight
    request, which is refused; so any other type is refused here.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
        raise Refusal(415, f"send the body as {_JSON}")
    body = await _read_body(request)
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        with suppress(ValueError, msgspec.ValidationError, RecursionError):
            return msgspec.convert(as_meant(json.loads(body)), shape)
        raise Refusal(400, f"the body is not a valid request: {error}") from error


async def _read_body(request: Request) -> bytes:
    body, num_bytes = bytearray(), 0
    try:
        async with asyncio.timeout(READ_TIMEOUT_S):
            async for part in request.stream():
                num_bytes += len(part)
                if num_bytes <= MAX_BODY_BYTES:
                    body += part
                elif num_bytes > MAX_DISCARDED_BYTES:
                    break
    except TimeoutError as error:
        raise Refusal(
            408, f"no complete request arrived within {READ_TIMEOUT_S:g} s", _CLOSE
        ) from error
    if num_bytes > MAX_BODY_BYTES:
        raise Refusal(413, f"the body exceeds {MAX_BODY_BYTES} bytes: send less", _CLOSE)
    return bytes(body)


_CLOSE = {"Connection": "close"}
