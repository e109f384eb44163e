"""Ollama's server: our own prompt as raw text to ``/api/generate``, and lines of JSON back.

Follows ollama/ollama: its page on the API, and api/types.go. ``raw`` switches the model's template
off.
"""

from collections.abc import Sequence
from typing import ClassVar

import msgspec

from intarsia.engine.remote.dialects.completions import Parameters, least_log_p
from intarsia.engine.remote.dialects.entropy import entropy_of
from intarsia.engine.remote.dialects.generation import UNREADABLE, ServerBusy, UnusableAnswer
from intarsia.engine.remote.dialects.text_generation import (
    AnswerForm,
    TextChunk,
    TextGeneration,
    TextPiece,
)

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
