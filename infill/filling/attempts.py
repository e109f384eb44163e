"""Counts the attempts to fill one hole: an alternative is asked for where an answer fails.

Suggestions, edits and the evaluation share these rules. They know neither holes nor canvases: the
caller asks the engine, and says how an answer is read.

    attempts = Attempts(read)
    for alternative in attempts:
        attempts.take(await engine.fill(plan.request(options, alternative=alternative)))
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar

import msgspec

from intarsia.engine.ipc.messages import Filled
from intarsia.infill.suggestion import NoSuggestion


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineCost:
    """Time, forward passes and tokens that the engine spent on one request."""

    ms: float = 0.0
    read_ms: float = 0.0  # of ms: reading the context (prefill)
    num_forwards: int = 0
    num_read: int = 0  # context tokens
    num_reused: int = 0  # context tokens that the engine still had in its cache
    num_project: int = 0  # context tokens of other files, in the fill that had the most
    num_written: int = 0  # tokens of all answers
    nats: float | None = 0.0  # the entropy of all written tokens, summed; None: not known

    def and_then(self, filled: Filled) -> "EngineCost":
        """Return the cost with one more answer added."""
        num_tokens = len(filled.tokens)
        return EngineCost(
            ms=self.ms + filled.ms.total,
            read_ms=self.read_ms + filled.ms.prefill,
            num_forwards=self.num_forwards + filled.num_forwards,
            num_read=self.num_read + filled.num_prefilled,
            num_reused=self.num_reused + filled.num_reused,
            num_project=max(self.num_project, filled.num_project),
            num_written=self.num_written + num_tokens,
            nats=None
            if self.nats is None or filled.mean_entropy is None
            else self.nats + filled.mean_entropy * num_tokens,
        )

    @property
    def mean_entropy(self) -> float | None:
        """Nats per token; None where no token was written, or a server does not say."""
        if self.nats is None or not self.num_written:
            return None
        return self.nats / self.num_written


EXTRA_ATTEMPTS = 1
"""How many more answers are asked for than needed, where one fails or repeats another."""


class HasText(Protocol):
    """What an answer is read as: a suggestion or a ghost text."""

    @property
    def text(self) -> str: ...


T = TypeVar("T", bound=HasText)

ReadAnswer: TypeAlias = Callable[[Filled], T | NoSuggestion]
"""Returns the cleaned text, or the reason why the answer does not pass."""


@dataclass(slots=True)
class Attempts(Generic[T]):
    """Yields the number of each alternative to ask for, until enough different texts pass.

    ``passed`` begins with the texts of the first alternatives that are known already.
    """

    read: ReadAnswer[T]
    num_needed: int = 1
    passed: tuple[T, ...] = ()  # different texts, best first
    rejection: NoSuggestion | None = None  # why the first answer that did not pass was rejected
    failure: NoSuggestion | None = None  # why the engine gave no further answer
    filled: Filled | None = None  # the last answer that passed, else the first answer
    cost: EngineCost | None = None  # of all answers; None if there is no answer
    is_complete: bool = True  # False where asking ended early: the engine failed, or the caller
    is_over: bool = False

    def __iter__(self) -> Iterator[int]:
        for alternative in range(len(self.passed), self.num_needed + EXTRA_ATTEMPTS):
            if self.is_over or len(self.passed) >= self.num_needed:
                return
            yield alternative

    @property
    def is_cut_short(self) -> bool:
        """Whether the deadline has ended the text."""
        return self.filled is not None and self.filled.finish_reason == "deadline"

    def take(self, answer: Filled | NoSuggestion | None, *, is_final: bool = False) -> None:
        """Take the answer to the last alternative, or why there is none; None ends asking.

        After one that ``is_final`` no alternative is worth asking for.
        """
        self.is_over = is_final
        if not isinstance(answer, Filled):
            self.failure, self.is_complete, self.is_over = answer, False, True
            return
        self.cost = (self.cost or EngineCost()).and_then(answer)
        candidate, text = first_that_passes(answer, self.read)
        if isinstance(text, NoSuggestion):
            self.rejection, self.filled = self.rejection or text, self.filled or candidate
        elif text.text not in [other.text for other in self.passed]:
            self.passed += (text,)
            self.filled = candidate


def first_that_passes(answer: Filled, read: ReadAnswer[T]) -> tuple[Filled, T | NoSuggestion]:
    """Return the best candidate of an answer that passes, else the best one and why it fails."""
    best = answer, read(answer)
    if not isinstance(best[1], NoSuggestion):
        return best
    for other in answer.others:
        candidate = msgspec.structs.replace(answer, others=(), **msgspec.structs.asdict(other))
        text = read(candidate)
        if not isinstance(text, NoSuggestion):
            return candidate, text
    return best
