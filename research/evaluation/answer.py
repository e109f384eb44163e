"""What a system put into a hole, and what it took."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """``text`` empty: nothing was suggested, for ``reason``. What is not known is None."""

    text: str
    reason: str | None
    is_failure: bool = False  # no answer at all: an error, a timeout
    ms: float  # as the client waited
    engine_ms: float | None = None
    read_ms: float | None = None  # of them, to read what was not held of the context
    num_forwards: int | None = None  # model passes after the prefill
    num_tokens: int | None = None
    mean_entropy: float | None = None  # nats a token
    num_read: int | None = None  # context tokens computed for it
    num_reused: int | None = None
