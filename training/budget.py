"""How long a training run lasts: minutes, tokens, or whichever limit is reached first."""

import time
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """``tokens`` counts the positions that the loss is computed at.

    A run limited by tokens alone is the same on every machine; one limited by minutes is not.
    """

    minutes: float | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        if self.minutes is None and self.tokens is None:
            raise ValueError("a budget needs minutes or tokens")
        if min(self.minutes or 1, self.tokens or 1) <= 0:
            raise ValueError(f"a budget must be above 0: {self}")


class Clock:
    """Measures how much of a budget is spent; ``spent_s`` is the time of earlier parts of a run."""

    def __init__(self, budget: Budget, *, spent_s: float = 0.0) -> None:
        self._budget = budget
        self._started_at = time.monotonic() - spent_s

    @property
    def spent_s(self) -> float:
        return time.monotonic() - self._started_at

    def share_done(self, num_tokens: int) -> float:
        """Return the share of the budget that is spent: 1 or more at its end."""
        budget = self._budget
        by_time = self.spent_s / (60 * budget.minutes) if budget.minutes else 0.0
        by_tokens = num_tokens / budget.tokens if budget.tokens else 0.0
        return max(by_time, by_tokens)
