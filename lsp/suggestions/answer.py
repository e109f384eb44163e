"""What a request came to: texts or the reason why there are none, and what it cost the engine."""

from dataclasses import dataclass

from intarsia.infill.filling.cost import EngineCost
from intarsia.lsp.status.status import LastAnswer
from intarsia.lsp.suggestions.ghost_text import GhostText


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """``ghosts``, best first; without any there is a reason."""

    ghosts: tuple[GhostText, ...] = ()
    reason: str | None = None
    is_failure: bool = False  # the reason is a fault, not that nothing fits here
    work: EngineCost | None = None  # None: the engine gave nothing, or was not asked
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
            passes=None if work is None else work.num_forwards,
            tokens_read=None if work is None else work.num_read,
            tokens_reused=None if work is None else work.num_reused,
            tokens_written=None if work is None else work.num_written,
            mean_entropy=None if work is None else work.mean_entropy,
            from_cache=self.is_known,
        )
