"""Requests to servers and their answers: token ids, or texts where they take no ids."""

import hmac
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import msgspec

from intarsia.engine.remote.http.remotes import Remote

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The errors of msgspec for bytes that are not JSON of the wanted shape."""

Parameters: TypeAlias = dict[str, Any]

StopKind: TypeAlias = Literal["end_token", "stop_text", "limit"]
"""Why a server ended its text: the model's own end token, a stop text, or ``max_tokens``.

Servers that take text do not tell a stop text from an end token.
"""

AnswerForm: TypeAlias = Literal["events", "lines", "whole"]
"""How an answer is cut for ``parse``: server-sent events, lines, or not at all."""

_SALT_PURPOSE = b"intarsia cache salt 1"


@dataclass(frozen=True, kw_only=True, slots=True)
class Generation:
    """One request: continue ``prompt``, token ids or a text.

    The text begins with ``beginning``, bytes of a half-typed word. ``forbidden`` tokens are not
    chosen. ``num_likely`` tokens are reported at each position. ``temperature`` 0 is greedy. One
    that ``is_background`` may wait for others.
    """

    prompt: Sequence[int] | str
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
class TextPiece:
    """A piece of an answer. None: the server does not say its log-probability or entropy (nats)."""

    text: str
    log_p: float | None = None
    entropy: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """How much of the prompt the server read, and how long that took there."""

    num_read: int
    num_reused: int
    ms: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunk:
    """A piece of an answer, as tokens or text; its end; and the server's own name of its model.

    ``sample`` counts the answers to one request.
    """

    tokens: tuple[NewToken, ...] = ()
    pieces: tuple[TextPiece, ...] = ()
    stop: StopKind | None = None
    is_last: bool = False
    reading: Reading | None = None
    model: str | None = None
    sample: int = 0


class UnusableAnswer(Exception):
    """The server sent something else than its dialect has. The message says what."""


class ServerBusy(Exception):
    """The server ended its answer because it is busy. The message is what it said."""


class Dialect(ABC):
    """How one kind of server is asked, and how its answer is read."""

    path: ClassVar[str] = "/v1/completions"
    form: ClassVar[AnswerForm] = "events"  # of a stream
    part_tokens: ClassVar[int | None] = None  # the most in a request that is not to be cancelled

    @abstractmethod
    def body(self, request: Any) -> Parameters:
        """Return a request's JSON."""

    @abstractmethod
    def parse(self, data: bytes) -> Chunk | None:
        """Return a piece, None without content. Raises UnusableAnswer, ServerBusy."""


class IdsDialect(Dialect):
    """How one kind of server is asked that takes token ids, and encodes texts on request."""

    reads_in_parts: ClassVar[bool] = False  # else a long prompt is cancelled as soon as any
    encodes_marks_as_text: ClassVar[bool] = False  # on request; else a mark is always a mark

    @abstractmethod
    def tokenize_body(self, text: str, *, parse_marks: bool) -> Parameters:
        """Return the JSON by which ``/tokenize`` encodes a text, its answer's field is tokens."""


class Fault(msgspec.Struct):
    """A server's description of a fault."""

    message: str = ""
    code: int | str | None = None


def fault_of(fault: Fault) -> Exception:
    """Return the error for what a server says, whose ``code`` may be a status of HTTP."""
    said = " ".join(fault.message.split())[:200] or "it did not say why"
    return ServerBusy(said) if fault.code in (429, 503) else UnusableAnswer(said)


_LEAST_LOG_P = -100.0


def least_log_p(value: float | None) -> float:
    """Return a log-probability that is finite: a server sends null for minus infinity."""
    return _LEAST_LOG_P if value is None else max(value, _LEAST_LOG_P)


def entropy_of(log_ps: Sequence[float]) -> float:
    """Return the entropy in nats of tokens with these log-probabilities, and of the rest as one."""
    likely = [min(log_p, 0.0) for log_p in log_ps]
    rest = 1.0 - math.fsum(map(math.exp, likely))
    known = -math.fsum(math.exp(log_p) * log_p for log_p in likely)
    return known - (rest * math.log(rest) if likely and rest > 1e-6 else 0.0)


def cache_salt_of(remote: Remote) -> str:
    """Return what keeps a user's cached prompts on a server apart. Raises ModelError.

    Only holders of the user's key can tell it.
    Without a key the users of a server cannot be told apart: then it depends on the url alone.
    """
    key = remote.key() or remote.url
    return hmac.digest(key.encode(), _SALT_PURPOSE, "sha256").hex()
