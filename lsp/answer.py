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
    passes: int = 0
    tokens_read: int = 0
    tokens_reused: int = 0

    def and_then(self, filled: "Filled") -> "EngineWork":
        return EngineWork(
            ms=self.ms + filled.ms.total,
            passes=self.passes + filled.steps,
            tokens_read=self.tokens_read + filled.num_prefilled,
            tokens_reused=self.tokens_reused + filled.num_reused,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """``ghosts``, best first; without any there is a reason."""

    ghosts: tuple[GhostText, ...] = ()
    reason: str | None = None
    work: EngineWork | None = None  # None: the engine gave nothing, or was not asked
    is_known: bool = False  # from an earlier request

    def for_status(self, uri: str) -> LastAnswer:
        """Return what the status line says of it."""
        work = self.work
        return LastAnswer(
            uri=uri,
            shown=bool(self.ghosts),
            reason=None if self.ghosts else self.reason,
            ms=None if work is None else work.ms,
            passes=None if work is None else work.passes,
            tokens_read=None if work is None else work.tokens_read,
            tokens_reused=None if work is None else work.tokens_reused,
            from_cache=self.is_known,
        )
