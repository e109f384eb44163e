"""The request and the events of servers with an OpenAI-like ``/v1/completions``."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from intarsia.engine.remote.dialects.generation import (
    UNREADABLE,
    Chunk,
    Fault,
    Generation,
    IdsDialect,
    LikelyToken,
    NewToken,
    Parameters,
    Reading,
    StopKind,
    UnusableAnswer,
    fault_of,
    least_log_p,
)

_FORBIDDEN_BIAS = -100  # the least that is accepted


class IdToken(msgspec.Struct):
    """A token of mlx-lm; null stands for minus infinity."""

    id: int
    logprob: float | None = None


class LogProbs(msgspec.Struct):
    """The tokens of an event; ``content`` is mlx-lm's. How a token is a text differs."""

    content: tuple[IdToken, ...] = ()
    tokens: tuple[str, ...] = ()
    token_logprobs: tuple[float | None, ...] = ()
    top_logprobs: tuple[dict[str, float | None] | None, ...] | None = None


class Choice(msgspec.Struct):
    """The answer's next piece. ``stop_reason`` is vLLM's, ``matched_stop`` SGLang's."""

    index: int = 0
    text: str = ""
    logprobs: LogProbs | None = None
    token_ids: tuple[int, ...] | None = None
    finish_reason: str | None = None
    stop_reason: int | str | None = None
    matched_stop: int | str | None = None


class _PromptDetails(msgspec.Struct):
    cached_tokens: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    prompt_tokens_details: _PromptDetails | None = None


class Event(msgspec.Struct):
    """One event. The one with the usage has no choices, and is the last."""

    choices: tuple[Choice, ...] = ()
    model: str | None = None
    usage: _Usage | None = None
    error: Fault | str | None = None

    @property
    def choice(self) -> Choice:
        """The next piece of one answer."""
        return self.choices[0] if self.choices else Choice()


_decoder = msgspec.json.Decoder(Event)

PLAIN: Parameters = {
    "top_p": 1.0,
    "top_k": -1,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "skip_special_tokens": False,
    "stream": True,
    "stream_options": {"include_usage": True},
}
"""Leaves nothing of a server's sampling defaults in force, and asks for a stream with usage."""


class IdsServer(IdsDialect):
    """The fields common to vLLM and SGLang. ``cache_salt`` keeps users' cached prompts apart."""

    def __init__(self, model: str, *, cache_salt: str) -> None:
        self._model = model
        self._cache_salt = cache_salt

    def _ids_body(self, generation: Generation) -> Parameters:
        """Return a request; nothing of the server's sampling defaults is left in force."""
        body: Parameters = {
            "model": self._model,
            "prompt": list(generation.prompt),
            "max_tokens": generation.max_tokens,
            "temperature": generation.temperature,
            "min_p": 0.0,
            "seed": generation.seed % 2**32,
            "stop": list(generation.stop),
            "cache_salt": self._cache_salt,
            **PLAIN,
        }
        if generation.forbidden:
            body["logit_bias"] = {str(token): _FORBIDDEN_BIAS for token in generation.forbidden}
        return body

    def tokenize_body(self, text: str, *, parse_marks: bool) -> Parameters:
        return {"model": self._model, "prompt": text, "add_special_tokens": False}


def parse_event(data: bytes, system: str) -> Event | None:
    """Return an event, None for the stream's end. Raises UnusableAnswer, ServerBusy."""
    if data == b"[DONE]":
        return None
    try:
        event = _decoder.decode(data)
    except UNREADABLE as error:
        raise UnusableAnswer(f"an event is not {system}'s: {error}") from error
    if event.error is not None:
        fault = Fault(message=event.error) if isinstance(event.error, str) else event.error
        raise fault_of(fault)
    return event


def stop_kind(choice: Choice, matched: int | str | None) -> StopKind | None:
    """Return why the text ended: ``matched`` is its stop text, no text at an end token."""
    if choice.finish_reason is None:
        return None
    if choice.finish_reason == "stop":
        return "stop_text" if isinstance(matched, str) else "end_token"
    if choice.finish_reason == "length":
        return "limit"
    raise UnusableAnswer(f"it ended for the reason {choice.finish_reason[:50]!r}")


def new_tokens(
    ids: Sequence[int], scored: LogProbs | None, id_of: Callable[[str], int | None]
) -> tuple[NewToken, ...]:
    """Return an event's tokens; ``id_of`` knows the likely ones. Raises UnusableAnswer."""
    log_ps = () if scored is None else scored.token_logprobs
    if len(log_ps) != len(ids):
        raise UnusableAnswer("an event has tokens without probabilities")
    likeliest = (scored and scored.top_logprobs) or (None,) * len(log_ps)
    if len(likeliest) != len(log_ps):
        raise UnusableAnswer("an event has tokens without likely ones")
    return tuple(
        NewToken(id=token, log_p=least_log_p(log_p), likeliest=_likely(others, id_of))
        for token, log_p, others in zip(ids, log_ps, likeliest, strict=True)
    )


def _likely(
    others: Mapping[str, float | None] | None, id_of: Callable[[str], int | None]
) -> tuple[LikelyToken, ...]:
    """Return the likely tokens, the likeliest first."""
    found = [
        LikelyToken(id=token, log_p=least_log_p(value))
        for text, value in (others or {}).items()
        if (token := id_of(text)) is not None
    ]
    return tuple(sorted(found, key=lambda token: -token.log_p))


def reading_of(event: Event) -> Reading | None:
    """Return what was read, None unless the server says what it reused."""
    usage = event.usage
    if usage is None or usage.prompt_tokens_details is None:
        return None
    num_reused = usage.prompt_tokens_details.cached_tokens or 0
    return Reading(num_read=usage.prompt_tokens - num_reused, num_reused=num_reused, ms=0.0)


def chunk_of(
    event: Event,
    ids: Sequence[int],
    id_of: Callable[[str], int | None],
    matched: int | str | None,
) -> Chunk:
    """Return an event as a piece of an answer. ``matched``: the stop text. Raises UnusableAnswer.

    The event with the usage, which has no choices, comes after that with the reason of the end.
    """
    return Chunk(
        tokens=new_tokens(ids, event.choice.logprobs, id_of),
        stop=stop_kind(event.choice, matched),
        sample=event.choice.index,
        is_last=not event.choices,
        reading=reading_of(event),
        model=event.model,
    )
