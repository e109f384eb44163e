"""llama.cpp's server: ``/infill``, ``/completion``, ``/health`` and ``/props``.

The answers have the fields that llama.vim, llama.vscode and Continue read.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from intarsia.cli.api.dialects.answers import events_response, json_response
from intarsia.cli.api.holes.filler import Answer, HoleFiller, Text
from intarsia.cli.api.holes.language import language_of
from intarsia.cli.api.holes.marks import read_prompt
from intarsia.cli.api.holes.request import MAX_TEXTS, Context, HoleRequest, OtherFile, stops_of
from intarsia.cli.api.http.read import read_json
from intarsia.engine.bounded_http import unless_gone
from intarsia.engine.config import EngineConfig

_STOP_TYPES = {"itself": "eos", "stop": "word", "limit": "limit"}


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of both requests that are used; others are ignored. ``language`` is ours."""

    n_predict: int | None = None  # 0: read the prompt only; below 0: as the hole needs
    max_tokens: int | None = None  # another name of it
    t_max_predict_ms: int | None = None
    n_cmpl: Annotated[int, msgspec.Meta(ge=1)] | None = None
    n: Annotated[int, msgspec.Meta(ge=1)] | None = None  # another name of it
    stop: str | list[str] | None = None
    seed: int | None = None
    stream: bool | None = None
    response_fields: list[str] | None = None
    language: str | None = None

    @property
    def most_tokens(self) -> int | None:
        return self.max_tokens if self.n_predict is None else self.n_predict


class ExtraFile(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    filename: str | None = None


class InfillRequest(Limits, frozen=True, kw_only=True):
    """``prompt`` is text between the prefix and the cursor."""

    input_prefix: str
    input_suffix: str
    input_extra: list[ExtraFile] | None = None
    prompt: str | None = None


class CompletionRequest(Limits, frozen=True, kw_only=True):
    prompt: str


class LlamaCpp:
    """Answers the requests of llama.cpp's clients."""

    def __init__(self, filler: HoleFiller) -> None:
        self._filler = filler

    def routes(self) -> list[Route]:
        return [
            Route("/infill", self._infill, methods=["POST"]),
            Route("/completion", self._complete, methods=["POST"]),
            Route("/completions", self._complete, methods=["POST"]),
            Route("/health", self._health, methods=["GET"]),
            Route("/v1/health", self._health, methods=["GET"]),
            Route("/props", self._props, methods=["GET"]),
        ]

    async def _infill(self, request: Request) -> Response:
        asked = await read_json(request, InfillRequest)
        extra = asked.input_extra or []
        context = Context(
            prefix=asked.input_prefix + (asked.prompt or ""),
            suffix=asked.input_suffix,
            files=tuple(OtherFile(path=file.filename or "", text=file.text) for file in extra),
        )
        return await self._answer(request, asked, context)

    async def _complete(self, request: Request) -> Response:
        asked = await read_json(request, CompletionRequest)
        return await self._answer(request, asked, read_prompt(asked.prompt))

    async def _answer(self, request: Request, asked: Limits, context: Context) -> Response:
        hole = _hole(asked, context)
        if asked.most_tokens == 0:  # clients have their other files read so
            await self._filler.read_ahead(hole)
            answer = Answer(model=await self._filler.model())
        else:
            answer = await unless_gone(self._filler.fill(hole), request.receive)
        whole = [_completion(index, text, answer) for index, text in enumerate(answer.texts)]
        if asked.stream:
            return events_response(_events(whole, asked.response_fields), is_done_told=False)
        chosen = [_chosen(body, asked.response_fields) for body in whole]
        return json_response(chosen if _num_texts(asked) > 1 else chosen[0])

    async def _health(self, _: Request) -> Response:
        return json_response({"status": "ok"})

    async def _props(self, _: Request) -> Response:
        config, name = EngineConfig(), await self._filler.model()
        settings = {"id": 0, "n_ctx": config.max_context_tokens, "is_processing": False}
        return json_response(
            {
                "default_generation_settings": settings,
                "total_slots": 1,
                "model_alias": name,
                "model_path": name,
                "chat_template": "",
                "build_info": "intarsia",
            }
        )


def _hole(asked: Limits, context: Context) -> HoleRequest:
    most = asked.most_tokens
    limit_ms = asked.t_max_predict_ms
    return HoleRequest(
        context=context,
        language=language_of(context, asked.language),
        stop=stops_of(asked.stop),
        max_tokens=most if most is not None and most > 0 else None,
        num_texts=_num_texts(asked),
        seed=max(asked.seed or 0, 0),  # -1 is any
        writing_ms=limit_ms if limit_ms is not None and limit_ms > 0 else None,
    )


def _num_texts(asked: Limits) -> int:
    return min(asked.n_cmpl or asked.n or 1, MAX_TEXTS)


def _completion(index: int, text: Text, answer: Answer) -> dict[str, Any]:
    return {
        "index": index,
        "content": text.text,
        "tokens": [],
        "id_slot": 0,
        "stop": True,
        "model": answer.model,
        "tokens_predicted": len(text.tokens),
        "tokens_evaluated": answer.num_prompt,
        "tokens_cached": answer.num_reused,
        "has_new_line": "\n" in text.text,
        "truncated": False,
        "stop_type": _STOP_TYPES[text.ended],
        "stopping_word": "",
        "timings": _timings(answer),
    }


def _timings(answer: Answer) -> dict[str, float]:
    return {
        "cache_n": answer.num_reused,
        "prompt_n": answer.num_read,
        "prompt_ms": answer.read_ms,
        "prompt_per_token_ms": answer.read_ms / max(answer.num_read, 1),
        "prompt_per_second": _per_second(answer.num_read, answer.read_ms),
        "predicted_n": answer.num_written,
        "predicted_ms": answer.write_ms,
        "predicted_per_token_ms": answer.write_ms / max(answer.num_written, 1),
        "predicted_per_second": _per_second(answer.num_written, answer.write_ms),
    }


def _per_second(number: int, ms: float) -> float:
    return number / ms * 1000 if ms > 0 else 0.0


def _events(whole: Sequence[dict[str, Any]], fields: Sequence[str] | None) -> list[dict[str, Any]]:
    """Return for each text an event with it, and one that ends it. The filters need all of it."""
    pairs = (
        (
            {"index": body["index"], "content": body["content"], "tokens": [], "stop": False},
            _chosen(body | {"content": ""}, fields),
        )
        for body in whole
    )
    return list(itertools.chain.from_iterable(pairs))


def _chosen(body: dict[str, Any], fields: Sequence[str] | None) -> dict[str, Any]:
    """Return the fields that were asked for, by their paths: ``timings/prompt_n``."""
    if not fields:
        return body
    chosen: dict[str, Any] = {}
    for path in fields:
        value: Any = body
        for key in path.split("/"):
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is not None:
            chosen[path] = value
    return chosen
