"""vLLM's server with a causal model: token ids to ``/v1/completions``, and back.

Follows vllm/entrypoints/openai/completion of vllm-project/vllm 0.32 and 0.33. NVIDIA's NIM runs it
too. Prompts are ids that we lay out: its ``suffix`` is refused for almost every model.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import msgspec

from intarsia.engine.remote.dialects.generation import (
    Chunk,
    Generation,
    LikelyToken,
    NewToken,
    Reading,
    ServerBusy,
    StopKind,
    UnusableAnswer,
)

_LEAST_LOG_P = -100.0
_FORBIDDEN_BIAS = -100  # the least that is accepted
_MAX_LOGPROBS = 20  # of a server that was started without `--max-logprobs`
_ID = "token_id:"

_Parameters: TypeAlias = dict[str, Any]


class _LogProbs(msgspec.Struct):
    tokens: tuple[str, ...] = ()  # "token_id:N"
    token_logprobs: tuple[float | None, ...] = ()
    top_logprobs: tuple[dict[str, float | None] | None, ...] | None = None


class _Choice(msgspec.Struct):
    logprobs: _LogProbs | None = None
    finish_reason: str | None = None
    stop_reason: int | str | None = None


class _PromptDetails(msgspec.Struct):
    cached_tokens: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    prompt_tokens_details: _PromptDetails | None = None


class _Fault(msgspec.Struct):
    message: str = ""
    code: int | str | None = None


class _Event(msgspec.Struct):
    choices: tuple[_Choice, ...] = ()
    model: str | None = None
    usage: _Usage | None = None
    error: _Fault | None = None


_decoder = msgspec.json.Decoder(_Event)


class Vllm:
    """The dialect of vLLM. ``cache_salt`` keeps this user's cached prompts apart from others'."""

    path: ClassVar[str] = "/v1/completions"
    can_begin: ClassVar[bool] = True
    reads_in_parts: ClassVar[bool] = False  # it notices a closed connection at its next step
    encodes_marks_as_text: ClassVar[bool] = False

    def __init__(self, model: str, *, cache_salt: str) -> None:
        self._model = model
        self._cache_salt = cache_salt

    def body(self, generation: Generation) -> _Parameters:
        """Return the request: nothing of the server's own sampling defaults is left in force."""
        body: _Parameters = {
            "model": self._model,
            "prompt": list(generation.prompt),
            "max_tokens": generation.max_tokens,
            "temperature": generation.temperature,
            "top_p": 1.0,
            "top_k": -1,
            "min_p": 0.0,
            "repetition_penalty": 1.0,
            "presence_penalty": 0.0,
            "frequency_penalty": 0.0,
            "seed": generation.seed % 2**32,
            "stop": list(generation.stop),
            "include_stop_str_in_output": False,
            "logprobs": min(generation.num_likely, _MAX_LOGPROBS),
            "return_tokens_as_token_ids": True,
            "skip_special_tokens": False,
            "stream": True,
            "stream_options": {"include_usage": True},
            "cache_salt": self._cache_salt,
        }
        if generation.beginning:
            beginning = re.escape(generation.beginning.decode())
            body["structured_outputs"] = {"regex": f"{beginning}[\\s\\S]*"}
        if generation.forbidden:
            body["logit_bias"] = {str(token): _FORBIDDEN_BIAS for token in generation.forbidden}
        return body

    def tokenize_body(self, text: str, *, parse_marks: bool) -> _Parameters:
        """Return the JSON by which ``/tokenize`` encodes a text: a mark in it is always a mark."""
        return {"model": self._model, "prompt": text, "add_special_tokens": False}

    def parse(self, data: bytes) -> Chunk | None:
        """Return a piece of the answer. Raises UnusableAnswer, ServerBusy."""
        return parse_event(data)


def parse_event(data: bytes) -> Chunk | None:
    """Return a piece of a streamed completion. Raises UnusableAnswer, ServerBusy.

    The usage, which ends the answer, comes after the event with the reason of the end.
    """
    if data == b"[DONE]":
        return None
    try:
        event = _decoder.decode(data)
    except msgspec.DecodeError as error:
        raise UnusableAnswer(f"an event is not vLLM's: {error}") from error
    if event.error is not None:
        raise _fault_of(event.error)
    choice = event.choices[0] if event.choices else _Choice()
    return Chunk(
        tokens=tuple(_new_tokens(choice.logprobs)),
        stop=_stop_of(choice),
        is_last=not event.choices,
        reading=_reading(event.usage),
        model=event.model,
    )


def _stop_of(choice: _Choice) -> StopKind | None:
    """Return why the text ended: at an end token there is no stop text."""
    if choice.finish_reason is None:
        return None
    if choice.finish_reason == "stop":
        return "stop_text" if isinstance(choice.stop_reason, str) else "end_token"
    if choice.finish_reason == "length":
        return "limit"
    raise UnusableAnswer(f"it ended for the reason {choice.finish_reason[:50]!r}")


def _new_tokens(scored: _LogProbs | None) -> Sequence[NewToken]:
    if scored is None:
        return []
    if len(scored.token_logprobs) != len(scored.tokens):
        raise UnusableAnswer("an event has tokens without probabilities")
    likeliest = scored.top_logprobs or (None,) * len(scored.tokens)
    if len(likeliest) != len(scored.tokens):
        raise UnusableAnswer("an event has tokens without likely ones")
    return [
        NewToken(id=_id_of(token), log_p=_log_p(log_p), likeliest=_likely(others))
        for token, log_p, others in zip(
            scored.tokens, scored.token_logprobs, likeliest, strict=True
        )
    ]


def _likely(others: Mapping[str, float | None] | None) -> tuple[LikelyToken, ...]:
    """Return the likely tokens, the likeliest first."""
    found = [
        LikelyToken(id=_id_of(key), log_p=_log_p(value)) for key, value in (others or {}).items()
    ]
    return tuple(sorted(found, key=lambda token: -token.log_p))


def _id_of(token: str) -> int:
    number = token.removeprefix(_ID)
    if not token.startswith(_ID) or not number.isdecimal():
        raise UnusableAnswer("a token has no id: update the server to vLLM 0.32 or newer")
    return int(number)


def _log_p(value: float | None) -> float:
    return _LEAST_LOG_P if value is None else max(value, _LEAST_LOG_P)


def _reading(usage: _Usage | None) -> Reading | None:
    """Return what was read, None unless the server says what it reused.

    It does with `--enable-prompt-tokens-details`.
    """
    if usage is None or usage.prompt_tokens_details is None:
        return None
    num_reused = usage.prompt_tokens_details.cached_tokens or 0
    return Reading(num_read=usage.prompt_tokens - num_reused, num_reused=num_reused, ms=0.0)


def _fault_of(fault: _Fault) -> Exception:
    said = " ".join(fault.message.split())[:200] or "it did not say why"
    return ServerBusy(said) if fault.code in (429, 503) else UnusableAnswer(said)
