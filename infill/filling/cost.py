"""What a request cost the engine, over all its fills.

The engine's messages are imported by whoever has one: a server starts without them.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from intarsia.engine.ipc.messages import Filled


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineCost:
    """The engine's part in one request, over all its fills."""

    ms: float = 0.0
    read_ms: float = 0.0  # of them
    passes: int = 0
    tokens_read: int = 0
    tokens_reused: int = 0
    tokens_written: int = 0
    nats: float = 0.0  # entropy of all tokens written

    def and_then(self, filled: "Filled") -> "EngineCost":
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
        """Nats a token; None where none was written."""
        return self.nats / self.tokens_written if self.tokens_written else None
