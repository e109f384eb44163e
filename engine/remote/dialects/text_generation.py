"""What a server that takes no token ids is asked for, and what comes back: texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from intarsia.engine.remote.dialects.generation import Reading

AnswerForm: TypeAlias = Literal["events", "lines", "whole"]
"""How an answer is cut for ``parse``: server-sent events, lines, or not at all."""

TextStop: TypeAlias = Literal["end", "limit"]
"""Why a server ended its text: its end token or a stop text, or the most tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TextGeneration:
    """One request: continue ``prompt``. ``temperature`` 0 is greedy."""

    prompt: str
    max_tokens: int
    stop: Sequence[str] = ()
    temperature: float = 0.0
    seed: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class TextPiece:
    """The next piece of an answer, a token or a few.

    ``log_p`` in nats and the entropy at its place are None where the server does not say.
    """

    text: str
    log_p: float | None = None
    entropy: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TextChunk:
    """One event of an answer. ``stop``: the text has ended. ``model``: the server's own name."""

    pieces: tuple[TextPiece, ...] = ()
    stop: TextStop | None = None
    is_last: bool = False
    reading: Reading | None = None
    model: str | None = None


class TextDialect(Protocol):
    """How one kind of server is asked for text."""

    path: ClassVar[str]
    form: ClassVar[AnswerForm]
    part_tokens: ClassVar[int | None]  # the most in one request that is not to be cancelled

    def body(self, generation: TextGeneration) -> Mapping[str, Any]:
        """Return the request's JSON."""
        ...

    def parse(self, data: bytes) -> TextChunk | None:
        """Return an event of the answer, None for one without content.

        Raises UnusableAnswer, ServerBusy.
        """
        ...
