"""The tokens that a server has written into a hole so far."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from intarsia.engine.ipc.messages import FinishReason
from intarsia.engine.remote.dialects.generation import NewToken, Reading


@dataclass(kw_only=True, slots=True)
class Written:
    """The hole's ids, each with its probability and the entropy at its place in nats.

    The entropies count the reported tokens, and the rest of the distribution as one.
    """

    ids: list[int] = field(default_factory=list)
    confidences: list[float] = field(default_factory=list)
    entropies: list[float] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    first_at: float | None = None  # time.monotonic() of the first token
    finish_reason: FinishReason = "end_of_hole"

    @property
    def num_read(self) -> int:
        """Context tokens that the server read for this hole."""
        return sum(reading.num_read for reading in self.readings)

    @property
    def num_reused(self) -> int:
        """Context tokens that the server held before."""
        return self.readings[0].num_reused if self.readings else 0

    @property
    def mean_entropy(self) -> float:
        """Nats per token."""
        return math.fsum(self.entropies) / len(self.entropies) if self.entropies else 0.0

    def add(self, tokens: Sequence[NewToken]) -> None:
        """Add tokens at the end."""
        for token in tokens:
            self.ids.append(token.id)
            self.confidences.append(min(math.exp(min(token.log_p, 0.0)), 1.0))
            self.entropies.append(entropy_of(token))

    def cut(self, length: int) -> None:
        """Keep the first tokens only."""
        del self.ids[length:], self.confidences[length:], self.entropies[length:]


def entropy_of(token: NewToken) -> float:
    """Return the entropy at a token's place in nats. Tokens without a report count as one."""
    log_ps = [min(other.log_p, 0.0) for other in token.likeliest]
    rest = 1.0 - math.fsum(map(math.exp, log_ps))
    known = -math.fsum(math.exp(log_p) * log_p for log_p in log_ps)
    return known - (rest * math.log(rest) if log_ps and rest > 1e-6 else 0.0)
