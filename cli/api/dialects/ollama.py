"""Ollama: ``/api/generate`` with ``suffix``, and what clients ask before it.

The answers have the fields that Continue, twinny, minuet and Zed read.
"""

from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from intarsia.cli.api.dialects.answers import json_response, lines_response
from intarsia.cli.api.holes.filler import Answer, HoleFiller
from intarsia.cli.api.holes.language import language_of
from intarsia.cli.api.holes.marks import read_prompt
from intarsia.cli.api.holes.request import HoleRequest, stops_of
from intarsia.cli.api.http.read import read_json
from intarsia.engine.bounded_http import unless_gone
from intarsia.engine.config import EngineConfig

_NS_PER_MS = 1_000_000
_SUFFIX_TEMPLATE = "{{ if .Suffix }}{{ .Prompt }}{{ .Suffix }}{{ else }}{{ .Prompt }}{{ end }}"
"""Continue sends a suffix only to models with a template that names it."""


_DETAILS = {
    "parent_model": "",
    "format": "safetensors",
    "family": "intarsia",
    "families": ["intarsia"],
    "parameter_size": "",
    "quantization_level": "",
}


class Options(msgspec.Struct, frozen=True, kw_only=True):
    num_predict: int | None = None  # 0 or less: as the hole needs
    stop: str | list[str] | None = None
    seed: int | None = None


class GenerateRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The fields that are used; others are ignored. ``language`` is ours: an LSP language id.

    ``raw`` changes nothing, because there is no template that a prompt is put into.
    """

    prompt: str | None = None
    suffix: str | None = None
    stream: bool | None = None
    options: Options | None = None
    language: str | None = None


class Ollama:
    """Answers the requests of Ollama's clients."""

    def __init__(self, filler: HoleFiller) -> None:
        self._filler = filler

    def routes(self) -> list[Route]:
        return [
            Route("/", self._root, methods=["GET"]),
            Route("/api/generate", self._generate, methods=["POST"]),
            Route("/api/tags", self._tags, methods=["GET"]),
            Route("/api/ps", self._tags, methods=["GET"]),
            Route("/api/show", self._show, methods=["POST"]),
            Route("/api/version", self._version, methods=["GET"]),
        ]

    async def _root(self, _: Request) -> Response:
        return PlainTextResponse("intarsia is running\n")

    async def _generate(self, request: Request) -> Response:
        asked = await read_json(request, GenerateRequest)
        if not asked.prompt and not asked.suffix:  # so a client asks for the model to be loaded
            await unless_gone(self._filler.preload(), request.receive)
            answer = Answer(model=await self._filler.model())
            return json_response(_end(answer) | {"done_reason": "load"})
        answer = await unless_gone(self._filler.fill(_hole(asked)), request.receive)
        text = {"response": answer.texts[0].text}
        if asked.stream is False:
            return json_response(_end(answer) | text)
        # The filters need the whole text, so it is one line, and the numbers are another.
        return lines_response([_frame(answer) | text | {"done": False}, _end(answer)])

    async def _tags(self, _: Request) -> Response:
        name = await self._filler.model()
        model = {
            "name": name,
            "model": name,
            "modified_at": _now(),
            "size": 0,
            "digest": "",
            "details": _DETAILS,
        }
        return json_response({"models": [model]})

    async def _show(self, request: Request) -> Response:
        await read_json(request, dict[str, Any])
        num_context = EngineConfig().max_context_tokens
        return json_response(
            {
                "modelfile": "",
                "parameters": f"num_ctx {num_context}",
                "template": _SUFFIX_TEMPLATE,
                "details": _DETAILS,
                "model_info": {
                    "general.architecture": "intarsia",
                    "intarsia.context_length": num_context,
                },
                "capabilities": ["completion", "insert"],
                "modified_at": _now(),
            }
        )

    async def _version(self, _: Request) -> Response:
        return json_response({"version": version("intarsia")})


def _hole(asked: GenerateRequest) -> HoleRequest:
    options = asked.options or Options()
    most = options.num_predict
    context = read_prompt(asked.prompt or "", asked.suffix or None)
    return HoleRequest(
        context=context,
        language=language_of(context, asked.language),
        stop=stops_of(options.stop),
        max_tokens=most if most is not None and most > 0 else None,
        seed=max(options.seed or 0, 0),
    )


def _frame(answer: Answer) -> dict[str, Any]:
    return {"model": answer.model, "created_at": _now()}


def _end(answer: Answer) -> dict[str, Any]:
    """Return the last object of an answer: why it ended, and its numbers, in nanoseconds."""
    return _frame(answer) | {
        "response": "",
        "done": True,
        "done_reason": "length" if answer.texts[0].ended == "limit" else "stop",
        "total_duration": int(answer.total_ms * _NS_PER_MS),
        "load_duration": 0,
        "prompt_eval_count": answer.num_prompt,
        "prompt_eval_duration": int(answer.read_ms * _NS_PER_MS),
        "eval_count": answer.num_written,
        "eval_duration": int(answer.write_ms * _NS_PER_MS),
    }


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")
