"""The interface of what finds next edits: a question about a text, and the places it answers."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from intarsia.research.evaluation.edits.still_open import Replacement
from intarsia.research.evaluation.record import SystemInfo

Level: TypeAlias = Literal["sure", "balanced", "bold"]
LEVELS: tuple[Level, ...] = ("sure", "balanced", "bold")
"""The surest first. What is offered at one level is offered at those after it, too."""

Direction: TypeAlias = Literal["below", "above"]


def includes(level: Level, found: Level | None) -> bool:
    """Whether a place found at a level is offered to a user who has chosen ``level``."""
    return found is not None and LEVELS.index(found) <= LEVELS.index(level)


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """After a user's edit, what else has to change?

    ``present`` is ``edited`` with the changes that were made since. All are one file's text, with
    LF line ends.
    """

    path: str
    language: str  # LSP language id
    before: str  # before the edit
    edited: str  # right after it
    present: str
    direction: Direction = "below"


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundPlace:
    """Lines that the edit made unlikely, and what could replace them. Likelihoods are in nats."""

    change: Replacement  # in the lines of the present text
    drop: float
    gain: float
    gain_before: float
    log_p: float
    is_agreed: bool
    level: Level | None  # the surest at which it is offered; None: it is not


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """The answer. Without places, ``reason`` may say why.

    Places were looked for in the lines from ``first_line`` to ``end_line`` (excluded) of the
    present text.
    """

    first_line: int
    end_line: int
    places: Sequence[FoundPlace]  # the likeliest to need a change first
    reason: str | None = None
    is_failure: bool = False
    ms: float  # from question to answer
    cpu_s: float | None = None  # seconds of one core
    num_read: int | None = None  # tokens
    num_reused: int | None = None


class Finder(Protocol):
    """Something that finds next edits, with its model loaded."""

    @property
    def info(self) -> SystemInfo: ...

    async def prepare(self, text: str, question: Question) -> None:
        """Read the file as it is before the edit, as an idle editor does; takes no one's time."""
        ...

    async def find(self, question: Question) -> Found:
        """Answer a question. Raise EvaluationFault if no other could be answered either."""
        ...


class FinderSystem(Protocol):
    """A finder that can be made ready, and is closed at the end of the block."""

    def ready(self) -> AbstractAsyncContextManager[Finder]: ...
