"""What one request cost the engine, over all its fills.

The language server starts without the engine's messages, so they are not imported here.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from intarsia.engine.ipc.messages import Filled


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

    def and_then(self, filled: "Filled") -> "EngineCost":
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
