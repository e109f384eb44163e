"""What the door answers: ``POST /v1/completions`` and ``GET /v1/models``, through the engine.

Requests come in, answers in the OpenAI-compatible form go out. Knows no sockets.
"""

import itertools
import time
from typing import Any

import msgspec

from intarsia.cli.completions_api.http import Answer, HttpFault, Request
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
    """Answers requests; a cancelled one is cancelled in the engine."""

    def __init__(self, client: EngineClient) -> None:
        self._client = client
        self._numbers = itertools.count(1)

    async def handle(self, request: Request) -> Answer:
        """Raises HttpFault."""
        try:
            match (request.path.rstrip("/"), request.method):
                case ("/v1/completions", "POST"):
                    return await self._complete(request)
                case ("/v1/models", "GET"):
                    return await self._models()
                case ("/v1/completions" | "/v1/models", method):
                    raise HttpFault(405, f"{method} is not answered here")
        except FillFailed as error:
            raise HttpFault(400 if error.code == "bad_request" else 503, str(error)) from error
        except EngineError as error:
            raise HttpFault(503, str(error)) from error
        raise HttpFault(404, "not found: there are /v1/completions and /v1/models")

    async def _complete(self, request: Request) -> Answer:
        # A web page can send other types without asking first, and JSON only after asking.
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
            raise HttpFault(415, f"send the body as {_JSON}")
        try:
            wanted = read_completion_request(request.body)
        except ValueError as error:
            raise HttpFault(400, str(error)) from error
        text, filled = await self._fill(wanted)
        return self._completion(text, filled, is_stream=bool(wanted.stream))

    async def _fill(self, wanted: CompletionRequest) -> tuple[str, Filled | None]:
        """Return the cleaned text; empty where there is nothing to suggest."""
        sides = sides_of(wanted)
        text, language = sides.prefix + sides.suffix, language_for_id(wanted.language)
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
                stop=(*canvas.stop, *stops_of(wanted)),
                max_open=canvas.max_open,
                min_indent=canvas.min_indent,
                max_tokens=min(wanted.max_tokens or canvas.max_tokens, MAX_TOKENS),
                seed=wanted.seed or 0,
            )
        )
        found = clean(filled.text, text, hole, canvas, language)
        return ("" if isinstance(found, NoSuggestion) else found.text), filled

    async def _models(self) -> Answer:
        status = await self._client.status()
        name = status.model or EngineConfig().model
        model = {"id": name, "object": "model", "created": 0, "owned_by": "intarsia"}
        return _json(200, {"object": "list", "data": [model]})

    def _completion(self, text: str, filled: Filled | None, *, is_stream: bool) -> Answer:
        """A stream is one event with the whole text: what is not cleaned yet is not sent."""
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
        return Answer(status=200, content_type=_EVENTS, body=events)


def write_fault(fault: HttpFault) -> Answer:
    """Return a refusal as the API words it."""
    kind = "invalid_request_error" if fault.status < 500 else "server_error"
    message = " ".join(str(fault).split())
    return _json(fault.status, {"error": {"message": message, "type": kind}})


def _json(status: int, body: dict[str, Any]) -> Answer:
    return Answer(status=status, content_type=_JSON, body=msgspec.json.encode(body) + b"\n")
