"""llama.cpp's server: token ids to ``/completion`` and back, by its tools/server/README.md."""

from collections.abc import Mapping, Sequence

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

_STOPS: Mapping[str, StopKind] = {"eos": "end_token", "word": "stop_text", "limit": "limit"}


class _Token(msgspec.Struct):
    id: int
    logprob: float | None = None  # null: minus infinity
    top_logprobs: "tuple[_Token, ...]" = ()


class _Timings(msgspec.Struct):
    prompt_n: int = 0
    cache_n: int = 0
    prompt_ms: float = 0.0

    def reading(self) -> Reading:
        ms = max(self.prompt_ms, 0.0)
        return Reading(num_read=self.prompt_n, num_reused=self.cache_n, ms=ms)


class _Event(msgspec.Struct):
    tokens: tuple[int, ...] = ()
    stop: bool = False
    stop_type: str = ""
    model: str | None = None
    timings: _Timings | None = None
    completion_probabilities: tuple[_Token, ...] = ()
    error: Fault | None = None
    message: str = ""  # of an error in the stream
    code: int = 0


_decoder = msgspec.json.Decoder(_Event)


class LlamaCpp(IdsDialect):
    """The dialect of llama.cpp's own server. ``model`` is sent to a router of several models."""

    path = "/completion"
    reads_in_parts = True  # it notices a closed connection between two batches
    encodes_marks_as_text = True

    def __init__(self, model: str = "") -> None:
        self._model = model

    def body(self, generation: Generation) -> Parameters:
        """Return the request: nothing of the server's own sampling defaults is left in force."""
        body: Parameters = {
            "prompt": list(generation.prompt),
            "n_predict": generation.max_tokens,
            "stop": list(generation.stop),
            "temperature": generation.temperature,
            "seed": generation.seed % 2**32,
            "samplers": ["temperature"],
            "mirostat": 0,
            "ignore_eos": False,
            "n_probs": generation.num_likely,
            "cache_prompt": True,
            "return_tokens": True,
            "timings_per_token": True,
            "stream": True,
        }
        if generation.beginning:
            body["grammar"] = grammar_beginning(generation.beginning.decode())
            if generation.max_tokens == 1:
                # After a stream the server ends the connection, and one token needs no stream.
                # A whole answer lacks the probabilities of what a stop text ends.
                body |= {"stream": False, "stop": []}
        if generation.forbidden:
            body["logit_bias"] = [[token, False] for token in generation.forbidden]
        if self._model:
            body["model"] = self._model
        return body

    def tokenize_body(self, text: str, *, parse_marks: bool) -> Parameters:
        body: Parameters = {"content": text, "add_special": False, "parse_special": parse_marks}
        return body | ({"model": self._model} if self._model else {})

    def parse(self, data: bytes) -> Chunk | None:
        if data == b"[DONE]":
            return None
        try:
            event = _decoder.decode(data)
        except UNREADABLE as error:
            raise UnusableAnswer(f"an event is not llama.cpp's: {error}") from error
        if event.error is not None or event.code:
            raise fault_of(event.error or Fault(message=event.message, code=event.code))
        return Chunk(
            tokens=tuple(_new_tokens(event.tokens, event.completion_probabilities)),
            stop=_STOPS.get(event.stop_type, "limit") if event.stop else None,
            is_last=event.stop,
            reading=None if event.timings is None else event.timings.reading(),
            model=event.model,
        )


def grammar_beginning(text: str) -> str:
    """Return a GBNF grammar of all texts that begin with this one."""
    special = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    literal = "".join(
        special.get(sign) or (sign if sign >= " " else f"\\x{ord(sign):02X}") for sign in text
    )
    return f'root ::= "{literal}" [^\\x00]*'


def _new_tokens(ids: Sequence[int], scored: Sequence[_Token]) -> Sequence[NewToken]:
    """Return the tokens of an event. A character over several tokens comes in one event."""
    if ids and len(scored) != len(ids):
        raise UnusableAnswer("an event has tokens without probabilities")
    return [
        NewToken(
            id=token,
            log_p=least_log_p(score.logprob),
            likeliest=tuple(
                LikelyToken(id=other.id, log_p=least_log_p(other.logprob))
                for other in score.top_logprobs
            ),
        )
        for token, score in zip(ids, scored, strict=False)
    ]
