"""OpenAI's completions: ``POST /v1/completions`` with ``suffix``, and ``GET /v1/models``.

The legacy form with ``text`` in its choices is what fill-in-the-middle clients use.
"""

import itertools
import math
import time
from typing import Annotated, Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from intarsia.cli.api.dialects.answers import events_response, json_response
from intarsia.cli.api.holes.filler import Answer, HoleFiller, Text
from intarsia.cli.api.holes.language import language_of
from intarsia.cli.api.holes.marks import read_prompt
from intarsia.cli.api.holes.request import MAX_TEXTS, HoleRequest, stops_of
from intarsia.cli.api.http.read import read_json
from intarsia.engine.bounded_http import unless_gone

LEAST_CONFIDENCE = 1e-9
"""Keeps the logarithm of a confidence finite."""
_SEED = msgspec.Meta(ge=-(2**63), le=2**63 - 1)


class StreamOptions(msgspec.Struct, frozen=True, kw_only=True):
    include_usage: bool | None = None


class CompletionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The fields that are used; others are ignored. ``language`` is ours: an LSP language id."""

    prompt: str
    suffix: str | None = None
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    stop: str | list[str] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: Annotated[int, msgspec.Meta(ge=1, le=MAX_TEXTS)] | None = None
    logprobs: bool | Annotated[int, msgspec.Meta(ge=0)] | None = None
    seed: Annotated[int, _SEED] | None = None
    language: str | None = None


class OpenAI:
    """Answers the requests of OpenAI's clients."""

    def __init__(self, filler: HoleFiller) -> None:
        self._filler = filler
        self._numbers = itertools.count(1)

    def routes(self) -> list[Route]:
        return [
            Route("/v1/completions", self._complete, methods=["POST"]),
            Route("/v1/models", self._models, methods=["GET"]),
        ]

    async def _complete(self, request: Request) -> Response:
        asked = await read_json(request, CompletionRequest)
        answer = await unless_gone(self._filler.fill(_hole(asked)), request.receive)
        has_logprobs = asked.logprobs is not None and asked.logprobs is not False
        choices = [
            {
                "index": index,
                "text": text.text,
                "logprobs": _logprobs(text) if has_logprobs else None,
                "finish_reason": "length" if text.ended == "limit" else "stop",
            }
            for index, text in enumerate(answer.texts)
        ]
        frame = {
            "id": f"cmpl-{next(self._numbers)}",
            "object": "text_completion",
            "created": int(time.time()),
            "model": answer.model,
        }
        if not asked.stream:
            return json_response(frame | {"choices": choices, "usage": _usage(answer)})
        # The filters need the whole text, so each choice is one event.
        events: list[dict[str, Any]] = [frame | {"choices": [choice]} for choice in choices]
        if asked.stream_options is not None and asked.stream_options.include_usage:
            events.append(frame | {"choices": [], "usage": _usage(answer)})
        return events_response(events, is_done_told=True)

    async def _models(self, _: Request) -> Response:
        name = await self._filler.model()
        model = {"id": name, "object": "model", "created": 0, "owned_by": "intarsia"}
        return json_response({"object": "list", "data": [model]})


def _hole(asked: CompletionRequest) -> HoleRequest:
    context = read_prompt(asked.prompt, asked.suffix or None)
    return HoleRequest(
        context=context,
        language=language_of(context, asked.language),
        stop=stops_of(asked.stop),
        max_tokens=asked.max_tokens,
        num_texts=asked.n or 1,
        seed=asked.seed or 0,
    )


def _logprobs(text: Text) -> dict[str, Any]:
    """Return the log-probability of each token, null if unknown, as that of any other token is."""
    texts = [token.text for token in text.tokens]
    offsets = itertools.accumulate((len(part) for part in texts[:-1]), initial=0)
    return {
        "tokens": texts,
        "token_logprobs": [
            None if token.confidence is None else math.log(max(token.confidence, LEAST_CONFIDENCE))
            for token in text.tokens
        ],
        "top_logprobs": None,
        "text_offset": list(offsets) if texts else [],
    }


def _usage(answer: Answer) -> dict[str, int]:
    return {
        "prompt_tokens": answer.num_prompt,
        "completion_tokens": answer.num_written,
        "total_tokens": answer.num_prompt + answer.num_written,
    }
