"""The outcome of a suggestion request: ghost texts or a reason, and its cost."""

from dataclasses import dataclass, replace

from intarsia.infill.calibration import IMPROBABLE, improbable
from intarsia.infill.filling.cost import EngineCost
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.status.status import LastRequest
from intarsia.lsp.suggestions.ghost_text import GhostText


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestOutcome:
    """``ghosts`` are sorted, best first; where there are none, ``reason`` is set."""

    ghosts: tuple[GhostText, ...] = ()
    reason: str | None = None
    kind: str = "other"  # of the reason
    is_failure: bool = False  # the reason is an error, rather than that nothing fits here
    cost: EngineCost | None = None  # None: the engine did not answer, or was not asked
    is_cached: bool = False
    may_be_revised: bool = False  # it was written with less context than there is

    def refused(self, why: NoSuggestion) -> "RequestOutcome":
        """Return the outcome without its ghost texts, and why there are none."""
        return replace(self, ghosts=(), reason=why.reason, kind=why.kind)

    def unasked(self, percent: int) -> "RequestOutcome":
        """Return what is shown of it to a user who did not ask: what is this probable to be kept.

        The ghost texts were judged by this percentage when they were read.
        """
        if not self.ghosts:
            return self
        shown = tuple(ghost.shown for ghost in self.ghosts if not ghost.is_hidden)
        if shown:
            return replace(self, ghosts=shown)
        return self.refused(improbable(self.ghosts[0].probability, percent))

    def for_status(self, uri: str) -> LastRequest:
        cost = self.cost
        return LastRequest(
            uri=uri,
            shown=bool(self.ghosts),
            reason=None if self.ghosts else self.reason,
            unsure=not self.ghosts and self.kind == IMPROBABLE,
            failed=self.is_failure,
            ms=None if cost is None else cost.ms,
            read_ms=None if cost is None else cost.read_ms,
            num_forwards=None if cost is None else cost.num_forwards,
            tokens_read=None if cost is None else cost.num_read,
            tokens_reused=None if cost is None else cost.num_reused,
            tokens_written=None if cost is None else cost.num_written,
            mean_entropy=None if cost is None else cost.mean_entropy,
            from_cache=self.is_cached,
        )
