"""One request's straight line: snapshot → ghost texts, or the reason why there are none.

Shared by inline completion and completion; knows nothing of how either answers.
"""

import logging
import time
from dataclasses import dataclass

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.debounce import pause
from intarsia.lsp.refusal import refusal
from intarsia.lsp.session import Session
from intarsia.lsp.snapshot import Snapshot
from intarsia.lsp.suggestion_cache import Known

logger = logging.getLogger(__name__)

_STALE = NoSuggestion(reason="the document has changed meanwhile")
_TOO_LATE = NoSuggestion(reason="the deadline passed before the engine was asked")


@dataclass(frozen=True, kw_only=True, slots=True)
class Ask:
    """How a request is to be answered."""

    num_candidates: int
    debounce_ms: int
    deadline_ms: int


async def suggest(session: Session, snapshot: Snapshot, ask: Ask) -> tuple[str, ...] | NoSuggestion:
    """Return what fits at the snapshot's cursor, best first; a fault of ours is a reason too."""
    try:
        return await _suggest(session, snapshot, ask)
    except Exception as error:  # the one guard: typing goes on whatever happens
        logger.exception("a suggestion failed")
        return NoSuggestion(reason=f"an error in intarsia itself: {error!r}")


async def _suggest(
    session: Session, snapshot: Snapshot, ask: Ask
) -> tuple[str, ...] | NoSuggestion:
    if refused := refusal(session.settings, snapshot.document):
        return refused
    known = session.cache.lookup(snapshot)
    if known.is_complete or len(known.ghosts) >= ask.num_candidates:
        return known.ghosts[: ask.num_candidates]
    await pause(ask.debounce_ms)
    if not snapshot.is_current(session.documents):
        return _STALE
    found = await _ask_engine(session, snapshot, ask, known.ghosts)
    if isinstance(found, NoSuggestion):
        return found
    if not snapshot.is_current(session.documents):
        return _STALE
    session.cache.store(snapshot, found)
    return found.ghosts


async def _ask_engine(
    session: Session, snapshot: Snapshot, ask: Ask, known: tuple[str, ...]
) -> Known | NoSuggestion:
    """Add to what is known: the greedy fill, then its alternatives, until one of them fails."""
    from intarsia.lsp.fill_plan import plan_fill

    plan = plan_fill(snapshot, session.settings)
    if isinstance(plan, NoSuggestion):
        return plan
    ends_at = time.monotonic() + ask.deadline_ms / 1000
    ghosts, reason, is_complete = list(known), _TOO_LATE, False
    for alternative in range(len(known), ask.num_candidates):
        left_ms = round(1000 * (ends_at - time.monotonic()))
        if left_ms <= 0 or not snapshot.is_current(session.documents):
            break
        filled = await session.engine.fill(plan.request(alternative, left_ms))
        if isinstance(filled, NoSuggestion):
            reason = filled
            break
        found = plan.read(filled)
        if isinstance(found, NoSuggestion):
            reason = found
        elif found not in ghosts:
            ghosts.append(found)
    else:
        is_complete = ask.num_candidates > 1
    return Known(ghosts=tuple(ghosts), is_complete=is_complete) if ghosts else reason
