"""The fitted probability that a user keeps a text: a logistic function of its evidence."""

import math
from dataclasses import dataclass

from intarsia.infill.calibration.evidence import Evidence

_LEAST_ODDS = -100.0
"""The logarithm of odds below which no difference is made: ``math.exp`` has its limits."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibration:
    """Coefficients of the log-odds. No weight is negative, so more confidence is never worse."""

    bias: float
    total: float
    weakest: float
    end: float

    def __post_init__(self) -> None:
        if min(self.total, self.weakest, self.end) < 0:
            raise ValueError(f"a weight is negative: {self}")

    def probability(self, evidence: Evidence) -> float:
        """Return the probability, 0 to 1, that a user keeps a text with this evidence."""
        odds = (
            self.bias
            + self.total * evidence.total
            + self.weakest * evidence.weakest
            + self.end * evidence.end
        )
        return 1 / (1 + math.exp(-max(odds, _LEAST_ODDS)))
