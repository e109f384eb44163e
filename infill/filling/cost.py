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
    passes: int = 0
    tokens_read: int = 0
    tokens_reused: int = 0
    tokens_written: int = 0
    nats: float = 0.0  # the entropy of all written tokens, summed

    def and_then(self, filled: "Filled") -> "EngineCost":
        """Return the cost with one more answer added."""
        num_written = len(filled.tokens)
        return EngineCost(
            ms=self.ms + filled.ms.total,
            read_ms=self.read_ms + filled.ms.prefill,
            passes=self.passes + filled.num_forwards,
            tokens_read=self.tokens_read + filled.num_prefilled,
            tokens_reused=self.tokens_reused + filled.num_reused,
            tokens_written=self.tokens_written + num_written,
            nats=self.nats + filled.mean_entropy * num_written,
        )

    @property
    def mean_entropy(self) -> float | None:
        """Nats per token; None where no token was written."""
        return self.nats / self.tokens_written if self.tokens_written else None
