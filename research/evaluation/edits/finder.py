"""The interface of what finds next edits: a question about a text, and the places it answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from intarsia_research.evaluation.edits.still_open import Replacement
from intarsia_research.evaluation.record import SystemInfo

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
    LF line ends. ``newest_start`` to ``newest_end`` (excluded) are the lines of ``present`` that
    were changed last.
    """

    path: str
    language: str  # LSP language id
    before: str  # before the edit
    edited: str  # right after it
    present: str
    newest_start: int
    newest_end: int
    directions: Sequence[Direction]  # in turn, until there is a sure offer


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
    places: Sequence[FoundPlace] = ()  # what is offered first, best first; then the others
    line: int | None = None  # the likeliest place of all, corrected or not
    drop: float = 0.0  # of that line, in nats
    reason: str | None = None
    is_failure: bool = False
    ms: float = 0.0  # from question to answer
    cpu_s: float | None = None  # seconds of one core
    num_read: int | None = None  # tokens
    num_reused: int | None = None


class Finder(Protocol):
    """Something that finds next edits, with its model loaded."""

    @property
    def info(self) -> SystemInfo: ...

    async def prepare(self, question: Question) -> None:
        """Read the file as it is before the edit, as is done in idle time while a user types."""
        ...

    async def find(self, question: Question) -> Found:
        """Answer a question. Raise EvaluationFault if no other could be answered either."""
        ...
