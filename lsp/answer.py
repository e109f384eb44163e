"""What a request came to: texts or the reason why there are none, and what it cost the engine."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from intarsia.lsp.ghost_text import GhostText
from intarsia.lsp.status import LastAnswer

if TYPE_CHECKING:
    from intarsia.engine.ipc.messages import Filled


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineWork:
    """The engine's part in one request, over all its fills."""

    ms: float = 0.0
    read_ms: float = 0.0  # of them
    passes: int = 0
    tokens_read: int = 0
    tokens_reused: int = 0
    tokens_written: int = 0
    nats: float = 0.0  # entropy of all tokens written

    def and_then(self, filled: "Filled") -> "EngineWork":
        num_written = len(filled.tokens)
        return EngineWork(
            ms=self.ms + filled.ms.total,
            read_ms=self.read_ms + filled.ms.prefill,
            passes=self.passes + filled.steps,
            tokens_read=self.tokens_read + filled.num_prefilled,
            tokens_reused=self.tokens_reused + filled.num_reused,
            tokens_written=self.tokens_written + num_written,
            nats=self.nats + filled.mean_entropy * num_written,
        )

    @property
    def mean_entropy(self) -> float | None:
        """Nats a token; None where none was written."""
        return self.nats / self.tokens_written if self.tokens_written else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """``ghosts``, best first; without any there is a reason."""

    ghosts: tuple[GhostText, ...] = ()
    reason: str | None = None
    is_failure: bool = False  # the reason is a fault, not that nothing fits here
    work: EngineWork | None = None  # None: the engine gave nothing, or was not asked
    is_known: bool = False  # from an earlier request

    def for_status(self, uri: str) -> LastAnswer:
        """Return what the status line says of it."""
        work = self.work
        return LastAnswer(
            uri=uri,
            shown=bool(self.ghosts),
            reason=None if self.ghosts else self.reason,
            failed=self.is_failure,
            ms=None if work is None else work.ms,
            read_ms=None if work is None else work.read_ms,
            passes=None if work is None else work.passes,
            tokens_read=None if work is None else work.tokens_read,
            tokens_reused=None if work is None else work.tokens_reused,
            tokens_written=None if work is None else work.tokens_written,
            mean_entropy=None if work is None else work.mean_entropy,
            from_cache=self.is_known,
        )
