"""mlx-lm's server: our own prompt as text to ``/v1/completions``, and token ids back, in parts.

Follows mlx_lm/server.py of ml-explore/mlx-lm 0.32.2. It is not asked for a stream: that drops a
blank at the start of its text, as well as stop texts within a token, and tells no probabilities. A
whole answer has the ids. A request goes on when its connection is closed, so a part is short.
"""

from collections.abc import Sequence
from itertools import takewhile
from typing import ClassVar

import msgspec

from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.remote.dialects.completions import (
    PATH,
    Parameters,
    least_log_p,
    parse_event,
    stop_kind,
)
from intarsia.engine.remote.dialects.generation import (
    UNREADABLE,
    AnswerForm,
    Reading,
    ServerBusy,
    TextChunk,
    TextGeneration,
    TextPiece,
    UnusableAnswer,
    entropy_of,
)

_DEFAULT_MODEL = "default_model"  # the one that the server was started with


class _Token(msgspec.Struct):
    id: int
    logprob: float | None = None


class _LogProbs(msgspec.Struct):
    content: tuple[_Token, ...] = ()


class _Choice(msgspec.Struct):
    text: str = ""
    logprobs: _LogProbs | None = None
    finish_reason: str | None = None


class _PromptDetails(msgspec.Struct):
    cached_tokens: int = 0


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    prompt_tokens_details: _PromptDetails | None = None


class _Answer(msgspec.Struct):
    choices: tuple[_Choice, ...]
    model: str | None = None
    usage: _Usage | None = None


_decoder = msgspec.json.Decoder(_Answer)


class Mlx:
    """The dialect of mlx-lm. It loads whichever model a request names: "" is its own.

    Only a request with a seed surely keeps what it has read for the next one.
    """

    path: ClassVar[str] = PATH
    form: ClassVar[AnswerForm] = "whole"
    part_tokens: ClassVar[int | None] = 8

    def __init__(self, model: str, text: FimTokenizer) -> None:
        self._model = model or _DEFAULT_MODEL
        self._text = text

    def body(self, generation: TextGeneration) -> Parameters:
        """Return the request: nothing of the server's own sampling defaults is left in force."""
        return {
            "model": self._model,
            "prompt": generation.prompt,
            "max_tokens": generation.max_tokens,
            "temperature": generation.temperature,
            "top_p": 1.0,
            "top_k": 0,
            "min_p": 0.0,
            "repetition_penalty": 0.0,
            "presence_penalty": 0.0,
            "frequency_penalty": 0.0,
            "xtc_probability": 0.0,
            "seed": generation.seed % 2**31,
            "stop": list(generation.stop),
            "logprobs": True,
            "stream": False,
        }

    def parse(self, data: bytes) -> TextChunk | None:
        """Return the answer. Raises UnusableAnswer."""
        try:
            answer = _decoder.decode(data)
        except UNREADABLE as error:
            raise UnusableAnswer(f"an answer is not mlx-lm's: {error}") from error
        choice = answer.choices[0] if answer.choices else _Choice()
        scored = () if choice.logprobs is None else choice.logprobs.content
        if choice.text and not scored:
            raise UnusableAnswer("its text has no tokens: update the server to mlx-lm 0.32")
        own = list(takewhile(lambda token: token.id not in self._text.end_ids, scored))
        is_ended = len(own) < len(scored) or choice.finish_reason == "stop"
        texts = self._text.pieces([token.id for token in own], num_given=0)
        if len(own) >= len(scored) - 1 and not _is_part(choice.text, "".join(texts)):
            raise UnusableAnswer(
                "its ids are another text here: set `tokenizer` to its model's tokenizer.json"
            )
        return TextChunk(
            pieces=tuple(
                TextPiece(text=text, log_p=least_log_p(token.logprob))
                for token, text in zip(own, texts, strict=True)
                if text
            ),
            stop="end" if is_ended else "limit",
            is_last=True,
            reading=_reading(answer.usage),
            model=answer.model,
        )


def _is_part(text: str, own: str) -> bool:
    """Whether a text is another one from which some signs were dropped."""
    rest = iter(own)
    return all(sign in rest for sign in text.rstrip("\ufffd"))


def _reading(usage: _Usage | None) -> Reading | None:
    if usage is None or usage.prompt_tokens_details is None:
        return None
    num_reused = usage.prompt_tokens_details.cached_tokens
    return Reading(num_read=usage.prompt_tokens - num_reused, num_reused=num_reused, ms=0.0)


CONTEXT_TOKENS = 8_192
"""The context of most models: always the same, as for another one the model is loaded again."""

_NUM_LIKELY = 10
_KEEP_ALIVE = "30m"  # as long as our own engine keeps its model


class _Likely(msgspec.Struct):
    logprob: float | None = None


class _Token(msgspec.Struct):
    token: str = ""
    logprob: float | None = None
    top_logprobs: tuple[_Likely, ...] = ()


class _Event(msgspec.Struct):
    model: str | None = None
    response: str = ""
    done: bool = False
    done_reason: str | None = None
    logprobs: tuple[_Token, ...] = ()
    error: str | None = None
    remote_host: str = ""


_decoder = msgspec.json.Decoder(_Event)


class Ollama:
    """The dialect of Ollama. ``context_tokens``: the context that is asked for."""

    path: ClassVar[str] = "/api/generate"
    form: ClassVar[AnswerForm] = "lines"
    part_tokens: ClassVar[int | None] = None

    def __init__(self, model: str, *, context_tokens: int = CONTEXT_TOKENS) -> None:
        self._model = model
        self._context_tokens = context_tokens

    def body(self, generation: TextGeneration) -> Parameters:
        """Return the request: nothing of the server's own sampling defaults is left in force.

        A prompt that does not fit is an error, instead of being cut without a word.
        """
        return {
            "model": self._model,
            "prompt": generation.prompt,
            "raw": True,
            "stream": True,
            "truncate": False,
            "logprobs": True,
            "top_logprobs": _NUM_LIKELY,
            "keep_alive": _KEEP_ALIVE,
            "options": {
                "num_predict": generation.max_tokens,
                "num_ctx": self._context_tokens,
                "stop": list(generation.stop),
                "temperature": generation.temperature,
                "seed": generation.seed % 2**31,
                "top_k": 0,
                "top_p": 1.0,
                "min_p": 0.0,
                "typical_p": 1.0,
                "repeat_penalty": 1.0,
                "presence_penalty": 0.0,
                "frequency_penalty": 0.0,
            },
        }

    def parse(self, data: bytes) -> TextChunk | None:
        """Return a line of the answer. Raises UnusableAnswer, ServerBusy."""
        try:
            event = _decoder.decode(data)
        except UNREADABLE as error:
            raise UnusableAnswer(f"a line is not Ollama's: {error}") from error
        if event.error is not None:
            said = " ".join(event.error.split())[:200]
            raise (ServerBusy if "busy" in said else UnusableAnswer)(said)
        if event.remote_host:
            raise UnusableAnswer(f"its model runs at {event.remote_host[:200]}: code went there")
        return TextChunk(
            pieces=tuple(_pieces(event.response, event.logprobs)),
            stop=None if not event.done else "limit" if event.done_reason == "length" else "end",
            is_last=event.done,
            model=event.model,
        )


def _pieces(text: str, scored: Sequence[_Token]) -> Sequence[TextPiece]:
    """Return a line's text as its tokens, in one piece where these do not join to the text."""
    if not text:
        return []
    if not scored or "".join(token.token for token in scored) != text:
        return [TextPiece(text=text)]
    return [
        TextPiece(text=token.token, log_p=least_log_p(token.logprob), entropy=_entropy(token))
        for token in scored
    ]


def _entropy(token: _Token) -> float | None:
    """Return the entropy of the likely tokens in nats, with all others as one."""
    log_ps = [least_log_p(likely.logprob) for likely in token.top_logprobs]
    return entropy_of(log_ps) if log_ps else None


class LmStudio:
    """The dialect of LM Studio."""

    path: ClassVar[str] = PATH
    form: ClassVar[AnswerForm] = "events"
    part_tokens: ClassVar[int | None] = None

    def __init__(self, model: str) -> None:
        self._model = model

    def body(self, generation: TextGeneration) -> Parameters:
        """Return the request, with all of the sampling settings that its documentation names."""
        return {
            "model": self._model,
            "prompt": generation.prompt,
            "max_tokens": generation.max_tokens,
            "temperature": generation.temperature,
            "top_p": 1.0,
            "presence_penalty": 0.0,
            "frequency_penalty": 0.0,
            "repeat_penalty": 1.0,
            "seed": generation.seed % 2**31,
            "stop": list(generation.stop),
            "stream": True,
        }

    def parse(self, data: bytes) -> TextChunk | None:
        """Return an event of the answer. Raises UnusableAnswer, ServerBusy."""
        event = parse_event(data, "LM Studio")
        if event is None:
            return TextChunk(is_last=True)
        stop, text = stop_kind(event.choice, None), event.choice.text
        return TextChunk(
            pieces=(TextPiece(text=text),) if text else (),
            stop=None if stop is None else "limit" if stop == "limit" else "end",
            model=event.model,
        )
