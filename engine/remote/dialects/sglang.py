"""SGLang's server with a causal model: token ids to ``/v1/completions``, and back.

Follows srt/entrypoints/openai of sgl-project/sglang 0.5.23. With `--completion-template`, it prints
a list of ids into its template as text, unless ``suffix`` is an empty text: so that is always sent.
``priority`` is never sent: servers may refuse a request that has one.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from intarsia.engine.remote.dialects.completions import (
    PATH,
    Choice,
    Parameters,
    ids_body,
    least_log_p,
    parse_event,
    reading_of,
    stop_kind,
    tokenize_body,
)
from intarsia.engine.remote.dialects.generation import (
    Chunk,
    Generation,
    LikelyToken,
    NewToken,
    UnusableAnswer,
)


class Sglang:
    """The dialect of SGLang. ``cache_salt`` keeps this user's cached prompts apart from others'.

    The likely tokens come as texts: ``id_of`` returns the token with these bytes, None without one.
    """

    path: ClassVar[str] = PATH
    can_begin: ClassVar[bool] = True
    reads_in_parts: ClassVar[bool] = False  # it ends a request once its connection is closed
    encodes_marks_as_text: ClassVar[bool] = False

    def __init__(
        self, model: str, *, cache_salt: str, id_of: Callable[[bytes], int | None]
    ) -> None:
        self._model = model
        self._cache_salt = cache_salt
        self._id_of = id_of

    def body(self, generation: Generation) -> Parameters:
        """Return the request: nothing of the server's own sampling defaults is left in force."""
        body = ids_body(generation, model=self._model, cache_salt=self._cache_salt) | {
            "suffix": "",
            "logprobs": generation.num_likely,
            "return_token_ids": True,
        }
        if generation.beginning:
            body["regex"] = f"{re.escape(generation.beginning.decode())}[\\s\\S]*"
        return body

    def tokenize_body(self, text: str, *, parse_marks: bool) -> Parameters:
        """Return the JSON by which ``/tokenize`` encodes a text: a mark in it is always a mark."""
        return tokenize_body(text, model=self._model)

    def parse(self, data: bytes) -> Chunk | None:
        """Return a piece of the answer. Raises UnusableAnswer, ServerBusy.

        The usage, which ends the answer, comes after the event with the reason of the end. It says
        what was reused with `--enable-cache-report`.
        """
        event = parse_event(data, "SGLang")
        if event is None:
            return None
        return Chunk(
            tokens=tuple(self._new_tokens(event.choice)),
            stop=stop_kind(event.choice, event.choice.matched_stop),
            is_last=not event.choices,
            reading=reading_of(event),
            model=event.model,
        )

    def _new_tokens(self, choice: Choice) -> Sequence[NewToken]:
        scored = choice.logprobs
        if choice.token_ids is None and (scored is None or not scored.tokens):
            return []
        if choice.token_ids is None:
            raise UnusableAnswer("a token has no id: update the server to SGLang 0.5.23 or newer")
        log_ps = () if scored is None else scored.token_logprobs
        if len(log_ps) != len(choice.token_ids):
            raise UnusableAnswer("an event has tokens without probabilities")
        likeliest = (scored and scored.top_logprobs) or (None,) * len(log_ps)
        if len(likeliest) != len(log_ps):
            raise UnusableAnswer("an event has tokens without likely ones")
        return [
            NewToken(id=token, log_p=least_log_p(log_p), likeliest=self._likely(others))
            for token, log_p, others in zip(choice.token_ids, log_ps, likeliest, strict=True)
        ]

    def _likely(self, others: Mapping[str, float | None] | None) -> tuple[LikelyToken, ...]:
        """Return the likely tokens that their texts tell, the likeliest first."""
        found = [
            LikelyToken(id=token, log_p=least_log_p(value))
            for text, value in (others or {}).items()
            if (token := self._token_of(text)) is not None
        ]
        return tuple(sorted(found, key=lambda token: -token.log_p))

    def _token_of(self, text: str) -> int | None:
        """Return the token of a text; None for what may be a piece of a character.

        The server writes such a piece as one Latin-1 sign a byte.
        """
        is_piece = any("\x80" <= sign <= "\xff" for sign in text) and max(text) <= "\xff"
        return None if is_piece else self._id_of(text.encode("utf-8", "replace"))
