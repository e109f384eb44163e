"""What every server is asked for, and what comes back, in terms of token ids."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

import msgspec

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What msgspec raises for bytes that are no JSON of the wanted shape."""

StopKind: TypeAlias = Literal["end_token", "stop_text", "limit"]
"""Why a server ended its text: the model's own end token, a stop text, or ``max_tokens``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Generation:
    """One request: continue ``prompt``.

    The text begins with ``beginning``, bytes of a half-typed word. ``forbidden`` tokens are not
    chosen. ``num_likely`` tokens are reported at each position. ``temperature`` 0 is greedy. One
    that ``is_background`` may wait for others.
    """

    prompt: Sequence[int]
    max_tokens: int
    stop: Sequence[str] = ()
    beginning: bytes = b""
    forbidden: Sequence[int] = ()
    temperature: float = 0.0
    seed: int = 0
    num_likely: int = 10
    is_background: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class LikelyToken:
    """A token and its log-probability in nats, before any constraint."""

    id: int
    log_p: float


@dataclass(frozen=True, kw_only=True, slots=True)
class NewToken:
    """A token that the server chose, and the likeliest ones at its place."""

    id: int
    log_p: float
    likeliest: tuple[LikelyToken, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What the server read of the prompt, and how long that took there."""

    num_read: int
    num_reused: int
    ms: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunk:
    """One piece of an answer. ``stop``: the text has ended. ``model``: the server's own name."""

    tokens: tuple[NewToken, ...] = ()
    stop: StopKind | None = None
    is_last: bool = False
    reading: Reading | None = None
    model: str | None = None


class UnusableAnswer(Exception):
    """The server sent something else than its dialect has. The message says what."""


class ServerBusy(Exception):
    """The server ended its answer because it is busy. The message is what it said."""


class Streams(Protocol):
    """How one kind of server streams an answer."""

    path: ClassVar[str]

    def parse(self, data: bytes) -> Chunk | None:
        """Return a piece of the answer, None for one without content.

        Raises UnusableAnswer, ServerBusy.
        """
        ...


class Tokenizes(Protocol):
    """How one kind of server is asked to encode a text."""

    encodes_marks_as_text: ClassVar[bool]  # on request; else a mark in a text is always a mark

    def tokenize_body(self, text: str, *, parse_marks: bool) -> Mapping[str, Any]:
        """Return the JSON by which ``/tokenize`` encodes a text, its answer's field is tokens."""
        ...


class Dialect(Streams, Tokenizes, Protocol):
    """How one kind of server is asked for tokens."""

    can_begin: ClassVar[bool]  # it takes ``Generation.beginning``
    reads_in_parts: ClassVar[bool]  # else a long prompt is cancelled as quickly as a short one

    def body(self, generation: Generation) -> Mapping[str, Any]:
        """Return the request's JSON."""
        ...
