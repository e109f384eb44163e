"""How long users waited for the answers that they looked for."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from intarsia_research.benchmark.figures import percentile


@dataclass(kw_only=True, slots=True)
class Waits:
    """Milliseconds from request to answer, at halts. ``num_unanswered``: the user typed on first.

    ``new_place_ms`` are of places that the engine had not read. ``busy_share`` is of the time.
    """

    warm_ms: list[float] = field(default_factory=list)
    new_place_ms: list[float] = field(default_factory=list)
    num_unanswered: int = 0
    busy_share: float | None = None

    def add(self, ms: float, *, is_new_place: bool) -> None:
        """Add one halt."""
        (self.new_place_ms if is_new_place else self.warm_ms).append(ms)

    @property
    def unanswered_share(self) -> float:
        """Return the share of the halts at which the next key came first."""
        num_halts = len(self.warm_ms) + len(self.new_place_ms) + self.num_unanswered
        return self.num_unanswered / max(1, num_halts)


def shown_percentiles(values_ms: Sequence[float]) -> str:
    """Return the median and the 95th percentile."""
    if not values_ms:
        return "–"
    return " / ".join(f"{percentile(values_ms, percent):,.0f}" for percent in (50, 95))
