"""Asks the engine for a fill, and for an alternative where the answer does not pass the filters.

Suggestions, edits and the evaluation share this one loop. It knows neither holes nor canvases: its
caller says how the engine is asked and how an answer is read.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar

import msgspec

from intarsia.engine.ipc.messages import Filled
from intarsia.infill.filling.cost import EngineCost
from intarsia.infill.suggestion import NoSuggestion

EXTRA_ATTEMPTS = 1
"""How many more answers are asked for than needed, where one fails or repeats another."""


class HasText(Protocol):
    """What an answer is read as: a suggestion or a ghost text."""

    @property
    def text(self) -> str: ...


T = TypeVar("T", bound=HasText)

AskForAlternative: TypeAlias = Callable[[int], Awaitable[Filled | NoSuggestion | None]]
"""Returns the answer, the reason why the engine gives none, or None to stop asking."""

ReadAnswer: TypeAlias = Callable[[Filled], T | NoSuggestion]
"""Returns the cleaned text, or the reason why the answer does not pass."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempts(Generic[T]):
    """The outcome of all attempts to fill one hole."""

    passed: tuple[T, ...]  # different texts, best first
    rejection: NoSuggestion | None  # why the first answer that did not pass was rejected
    failure: NoSuggestion | None  # why the engine gave no further answer
    filled: Filled | None  # the last answer that passed, else the first answer
    cost: EngineCost | None  # of all answers; None if there is no answer
    is_complete: bool  # False where asking ended early: the engine failed, or ``ask`` stopped


async def ask_until_enough_pass(
    ask: AskForAlternative,
    read: ReadAnswer[T],
    *,
    num_needed: int = 1,
    known: Sequence[T] = (),
    is_final: Callable[[Filled], bool] = lambda filled: False,
) -> Attempts[T]:
    """Ask for one alternative after another until ``num_needed`` different texts pass.

    ``known`` are the texts of the first alternatives, which are not asked for again. ``is_final``
    is true of an answer after which no alternative is worth asking for.
    """
    passed = list(known)
    rejection, failure, best, cost, is_complete = None, None, None, None, True
    for alternative in range(len(known), num_needed + EXTRA_ATTEMPTS):
        if len(passed) >= num_needed:
            break
        answer = await ask(alternative)
        if not isinstance(answer, Filled):
            failure, is_complete = answer, False
            break
        cost = (cost or EngineCost()).and_then(answer)
        candidate, text = first_that_passes(answer, read)
        if isinstance(text, NoSuggestion):
            rejection, best = rejection or text, best or candidate
        elif text.text not in [other.text for other in passed]:
            passed.append(text)
            best = candidate
        if is_final(answer):
            break
    return Attempts(
        passed=tuple(passed),
        rejection=rejection,
        failure=failure,
        filled=best,
        cost=cost,
        is_complete=is_complete,
    )


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
