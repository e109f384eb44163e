"""How long a run goes on: minutes, tokens, or whichever comes first."""

import time
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """``tokens`` are canvas rows. A run by tokens alone is the same on every machine; one by
    minutes is not."""

    minutes: float | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        if self.minutes is None and self.tokens is None:
            raise ValueError("a budget needs minutes or tokens")
        if min(self.minutes or 1, self.tokens or 1) <= 0:
            raise ValueError(f"a budget must be above 0: {self}")


class Clock:
    """What of a budget is spent. ``spent_s``: by earlier parts of an interrupted run."""

    def __init__(self, budget: Budget, *, spent_s: float = 0.0) -> None:
        self._budget = budget
        self._started_at = time.monotonic() - spent_s

    @property
    def spent_s(self) -> float:
        return time.monotonic() - self._started_at

    def share_done(self, num_tokens: int) -> float:
        """Return how much of the budget is spent, 1 or more at its end."""
        budget = self._budget
        by_time = self.spent_s / (60 * budget.minutes) if budget.minutes else 0.0
        by_tokens = num_tokens / budget.tokens if budget.tokens else 0.0
        return max(by_time, by_tokens)
