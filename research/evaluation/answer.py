"""The answer of a system to one case: its text and its cost."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """An answer. Without ``text`` nothing was suggested, for ``reason``. None: unknown."""

    text: str
    reason: str | None
    is_failure: bool = False  # no answer: an error or a timeout
    ms: float  # from the client's request to its answer
    engine_ms: float | None = None
    read_ms: float | None = None  # the prefill's part of engine_ms
    num_forwards: int | None = None  # after the prefill
    num_tokens: int | None = None
    mean_entropy: float | None = None  # nats per token
    num_read: int | None = None  # context tokens read for it
    num_reused: int | None = None  # context tokens found in the KV cache
    num_project: int | None = None  # context tokens of other files that it was written with
