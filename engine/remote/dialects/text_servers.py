"""Servers that take our prompt as text, with no defaults of theirs: mlx-lm, Ollama, LM Studio."""

from collections.abc import Sequence
from itertools import takewhile

import msgspec

from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.remote.dialects.completions import (
    parse_event,
    reading_of,
    stop_kind,
)
from intarsia.engine.remote.dialects.generation import (
    UNREADABLE,
    Chunk,
    Dialect,
    Generation,
    Parameters,
    ServerBusy,
    StopKind,
    TextPiece,
    UnusableAnswer,
    entropy_of,
    least_log_p,
)

CONTEXT_TOKENS = 8_192
"""Ollama's context, always the same: for another length it would load the model again."""

_NUM_LIKELY = 10
_KEEP_ALIVE = "30m"  # as long as our own engine keeps its model


class Mlx(Dialect):
    """The dialect of mlx-lm. It loads whichever model a request names: "" is its own.

    Follows mlx_lm/server.py of ml-explore/mlx-lm 0.32.2. It is not asked for a stream: that drops a
    blank at the start of its text, as well as stop texts within a token, and tells no
    probabilities. A whole answer has the ids. A request goes on when its connection is closed, so a
    part is short. Only a request with a seed surely keeps what it has read for the next one.
    """

    part_tokens = 8

    def __init__(self, model: str, text: FimTokenizer) -> None:
        self._model = model or "default_model"  # the one that the server was started with
        self._text = text

    def body(self, generation: Generation) -> Parameters:
        return _completion(self._model, generation) | {
            "top_k": 0,
            "min_p": 0.0,
            "repetition_penalty": 0.0,
            "xtc_probability": 0.0,
            "logprobs": True,
            "stream": False,
        }

    def parse(self, data: bytes) -> Chunk | None:
        event = parse_event(data, "mlx-lm")
        if event is None or not event.choices:
            raise UnusableAnswer("an answer is not mlx-lm's: it has no text")
        choice = event.choice
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
        return Chunk(
            pieces=tuple(
                TextPiece(text=text, log_p=least_log_p(token.logprob))
                for token, text in zip(own, texts, strict=True)
                if text
            ),
            stop="end_token" if is_ended else "limit",
            is_last=True,
            reading=reading_of(event),
            model=event.model,
        )


class LmStudio(Dialect):
    """The dialect of LM Studio, by its documentation. It tells no probabilities."""

    def __init__(self, model: str) -> None:
        self._model = model

    def body(self, generation: Generation) -> Parameters:
        """Return the request, with all of the sampling settings that its documentation names."""
        return _completion(self._model, generation) | {"repeat_penalty": 1.0, "stream": True}

    def parse(self, data: bytes) -> Chunk | None:
        event = parse_event(data, "LM Studio")
        if event is None:
            return Chunk(is_last=True)
        text = event.choice.text
        return Chunk(
            pieces=(TextPiece(text=text),) if text else (),
            stop=stop_kind(event.choice, None),
            model=event.model,
        )


class _Likely(msgspec.Struct):
    logprob: float | None = None


class _OllamaToken(_Likely):
    token: str = ""
    top_logprobs: tuple[_Likely, ...] = ()


class _OllamaLine(msgspec.Struct):
    model: str | None = None
    response: str = ""
    done: bool = False
    done_reason: str | None = None
    logprobs: tuple[_OllamaToken, ...] = ()
    error: str | None = None
    remote_host: str = ""


_line_decoder = msgspec.json.Decoder(_OllamaLine)


class Ollama(Dialect):
    """The dialect of Ollama. ``context_tokens``: the context that is asked for.

    Follows ollama/ollama: its page on the API, and api/types.go. ``raw`` switches the model's
    template off. A prompt that does not fit is an error, instead of being cut without a word.
    """

    path = "/api/generate"
    form = "lines"

    def __init__(self, model: str, *, context_tokens: int | None = None) -> None:
        self._model = model
        self._context_tokens = context_tokens or CONTEXT_TOKENS

    def body(self, generation: Generation) -> Parameters:
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

    def parse(self, data: bytes) -> Chunk | None:
        try:
            line = _line_decoder.decode(data)
        except UNREADABLE as error:
            raise UnusableAnswer(f"a line is not Ollama's: {error}") from error
        if line.error is not None:
            said = " ".join(line.error.split())[:200]
            raise (ServerBusy if "busy" in said else UnusableAnswer)(said)
        if line.remote_host:
            raise UnusableAnswer(f"its model runs at {line.remote_host[:200]}: code went there")
        stop: StopKind = "limit" if line.done_reason == "length" else "end_token"
        return Chunk(
            pieces=tuple(_pieces(line.response, line.logprobs)),
            stop=stop if line.done else None,
            is_last=line.done,
            model=line.model,
        )


def _completion(model: str, generation: Generation) -> Parameters:
    """Return what mlx-lm and LM Studio are both asked."""
    return {
        "model": model,
        "prompt": generation.prompt,
        "max_tokens": generation.max_tokens,
        "temperature": generation.temperature,
        "top_p": 1.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "seed": generation.seed % 2**31,
        "stop": list(generation.stop),
    }


def _is_part(text: str, own: str) -> bool:
    """Whether a text is another one from which some signs were dropped."""
    rest = iter(own)
    return all(sign in rest for sign in text.rstrip("\ufffd"))


def _pieces(text: str, scored: Sequence[_OllamaToken]) -> Sequence[TextPiece]:
    """Return a line's text as its tokens, in one piece where these do not join to the text."""
    if not text:
        return []
    if not scored or "".join(token.token for token in scored) != text:
        return [TextPiece(text=text)]
    return [
        TextPiece(text=token.token, log_p=least_log_p(token.logprob), entropy=_entropy(token))
        for token in scored
    ]


def _entropy(token: _OllamaToken) -> float | None:
    """Return the entropy of the likely tokens in nats, with all others as one."""
    log_ps = [least_log_p(likely.logprob) for likely in token.top_logprobs]
    return entropy_of(log_ps) if log_ps else None
