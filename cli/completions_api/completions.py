"""The responses of the completions API: ``POST /v1/completions`` and ``GET /v1/models``.

Asks the engine and writes responses in the OpenAI-compatible form. Knows nothing of sockets.
"""

import itertools
import time
from typing import Any

import msgspec

from intarsia.cli.completions_api.http import HttpError, Request, Response
from intarsia.cli.completions_api.prompt import (
    MAX_TOKENS,
    CompletionRequest,
    read_completion_request,
    sides_of,
    stops_of,
)
from intarsia.engine.config import EngineConfig
from intarsia.engine.ipc.client import EngineClient, EngineError, FillFailed
from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.infill.canvas.canvas import Budget, build_canvas
from intarsia.infill.holes.hole import find_hole
from intarsia.infill.languages import language_for_id
from intarsia.infill.postprocess import clean
from intarsia.infill.suggestion import NoSuggestion

_JSON = "application/json"
_EVENTS = "text/event-stream"


class Completions:
    """Answers requests through the engine; cancelling ``handle`` cancels the fill there."""

    def __init__(self, client: EngineClient) -> None:
        self._client = client
        self._numbers = itertools.count(1)

    async def handle(self, request: Request) -> Response:
        """Return the response to one request. Raise HttpError if it is refused."""
        try:
            match (request.path.rstrip("/"), request.method):
                case ("/v1/completions", "POST"):
                    return await self._complete(request)
                case ("/v1/models", "GET"):
                    return await self._models()
                case ("/v1/completions" | "/v1/models", method):
                    raise HttpError(405, f"{method} is not supported here")
        except FillFailed as error:
            raise HttpError(400 if error.code == "bad_request" else 503, str(error)) from error
        except EngineError as error:
            raise HttpError(503, str(error)) from error
        raise HttpError(404, "not found: use /v1/completions or /v1/models")

    async def _complete(self, request: Request) -> Response:
        # A browser sends JSON to another origin only after a preflight request, which is refused.
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
            raise HttpError(415, f"send the body as {_JSON}")
        try:
            completion = read_completion_request(request.body)
        except ValueError as error:
            raise HttpError(400, str(error)) from error
        text, filled = await self._fill(completion)
        return self._completion(text, filled, is_stream=bool(completion.stream))

    async def _fill(self, request: CompletionRequest) -> tuple[str, Filled | None]:
        """Return the cleaned text (empty: nothing to suggest), and the engine's answer."""
        sides = sides_of(request)
        text, language = sides.prefix + sides.suffix, language_for_id(request.language)
        hole = find_hole(text, len(sides.prefix), language)
        if isinstance(hole, NoSuggestion):
            return "", None
        canvas = build_canvas(text, hole, language, Budget())
        filled = await self._client.fill(
            Fill(
                id=0,  # the client numbers its requests
                prefix=canvas.prefix,
                given=canvas.given,
                suffix=canvas.suffix,
                stop=(*canvas.stop, *stops_of(request)),
                max_open=canvas.max_open,
                min_indent=canvas.min_indent,
                max_tokens=min(request.max_tokens or canvas.max_tokens, MAX_TOKENS),
                seed=request.seed or 0,
            )
        )
        cleaned = clean(filled.text, text, hole, canvas, language)
        return ("" if isinstance(cleaned, NoSuggestion) else cleaned.text), filled

    async def _models(self) -> Response:
        status = await self._client.status()
        name = status.model or EngineConfig().model
        model = {"id": name, "object": "model", "created": 0, "owned_by": "intarsia"}
        return _json(200, {"object": "list", "data": [model]})

    def _completion(self, text: str, filled: Filled | None, *, is_stream: bool) -> Response:
        """Return a completion. A stream is one event with the whole, cleaned text."""
        num_read = filled.num_prefilled + filled.num_reused if filled else 0
        num_written = len(filled.tokens) if filled else 0
        is_cut = filled is not None and filled.finish_reason == "max_tokens"
        body = {
            "id": f"cmpl-{next(self._numbers)}",
            "object": "text_completion",
            "created": int(time.time()),
            "model": filled.model if filled else EngineConfig().model,
            "choices": [
                {
                    "index": 0,
                    "text": text,
                    "logprobs": None,
                    "finish_reason": "length" if is_cut else "stop",
                }
            ],
            "usage": {
                "prompt_tokens": num_read,
                "completion_tokens": num_written,
                "total_tokens": num_read + num_written,
            },
        }
        if not is_stream:
            return _json(200, body)
        events = b"data: " + msgspec.json.encode(body) + b"\n\ndata: [DONE]\n\n"
        return Response(status=200, content_type=_EVENTS, body=events)


def write_error(error: HttpError) -> Response:
    """Return an error in the API's form."""
    kind = "invalid_request_error" if error.status < 500 else "server_error"
    message = " ".join(str(error).split())
    return _json(error.status, {"error": {"message": message, "type": kind}})


def _json(status: int, body: dict[str, Any]) -> Response:
    return Response(status=status, content_type=_JSON, body=msgspec.json.encode(body) + b"\n")
