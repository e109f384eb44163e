"""Suggests text for a snapshot: from the cache, else from the engine.

Shared by inline completion and completion.
"""

import asyncio
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from intarsia.infill.filling.cost import EngineCost
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.eligibility import ineligibility
from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.session import Session
from intarsia.lsp.suggestions.request_outcome import RequestOutcome
from intarsia.lsp.suggestions.suggestion_cache import CachedSuggestions

if TYPE_CHECKING:
    from intarsia.engine.ipc.messages import Filled
    from intarsia.lsp.requests.plan import FillPlan

logger = logging.getLogger(__name__)

_STALE = "the document has changed"
_TOO_LATE = "the deadline passed before the engine was asked"


@dataclass(frozen=True, kw_only=True, slots=True)
class SuggestOptions:
    """How many suggestions a request gets, and how fast."""

    num_candidates: int
    debounce_ms: int
    deadline_ms: int
    shows_draft: bool = False


async def suggest(
    session: Session, snapshot: Snapshot, options: SuggestOptions
) -> RequestOutcome:
    """Return suggestions for the snapshot's cursor, best first; an error of ours is a reason too."""
    try:
        return await _suggest(session, snapshot, options)
    except Exception as error:  # the one guard: no error may disturb typing
        logger.exception("a suggestion failed")
        return RequestOutcome(reason=f"an error in intarsia itself: {error!r}", is_failure=True)


async def _suggest(
    session: Session, snapshot: Snapshot, options: SuggestOptions
) -> RequestOutcome:
    wait_s = session.debounce.seconds_to_wait(snapshot.document.uri, options.debounce_ms)
    if refusal := ineligibility(session.settings, snapshot.document):
        return RequestOutcome(reason=refusal.reason)
    cached = session.cache.lookup(snapshot)
    if cached.is_complete or len(cached.ghosts) >= options.num_candidates:
        return RequestOutcome(ghosts=cached.ghosts[: options.num_candidates], is_cached=True)
    if wait_s:
        await asyncio.sleep(wait_s)
    if not snapshot.is_current(session.documents):
        return RequestOutcome(reason=_STALE)
    return await _ask_engine(session, snapshot, options, cached)


async def _ask_engine(
    session: Session, snapshot: Snapshot, ask: SuggestOptions, known: CachedSuggestions
) -> RequestOutcome:
    """Add to what is known: the greedy fill, then its alternatives, until there are enough."""
    from intarsia.infill.filling.plan import EXTRA_ATTEMPTS
    from intarsia.lsp.requests.plan import plan_fill

    plan = plan_fill(snapshot, session.settings)
    if isinstance(plan, NoSuggestion):
        return RequestOutcome(reason=plan.reason)
    ends_at = time.monotonic() + ask.deadline_ms / 1000
    ghosts, cost, refused, failure, is_late = list(known.ghosts), None, None, None, False
    for alternative in range(len(ghosts), ask.num_candidates + EXTRA_ATTEMPTS):
        if len(ghosts) >= ask.num_candidates:
            break
        left_ms = round(1000 * (ends_at - time.monotonic()))
        is_late = left_ms <= 0 or not snapshot.is_current(session.documents)
        if is_late:
            break
        filled = await _fill(session, plan, alternative, left_ms, shows_draft=ask.shows_draft)
        if isinstance(filled, NoSuggestion):
            failure = filled
            break
        work = (work or EngineCost()).and_then(filled)
        found = plan.read(filled)
        if isinstance(found, NoSuggestion):
            refused = refused or found
        elif found.text not in [ghost.text for ghost in ghosts]:
            ghosts.append(found)
    if not snapshot.is_current(session.documents):
        return RequestOutcome(reason=_STALE, work=work)
    if not ghosts:
        why = failure or refused
        reason = why.reason if why else _TOO_LATE
        return RequestOutcome(reason=reason, work=work, is_failure=failure is not None)
    is_complete = ask.num_candidates > 1 and failure is None and not is_late
    session.cache.store(snapshot, CachedSuggestions(ghosts=tuple(ghosts), is_complete=is_complete))
    return RequestOutcome(ghosts=tuple(ghosts), work=work)


async def _fill(
    session: Session, plan: "FillPlan", alternative: int, left_ms: int, *, shows_draft: bool
) -> "Filled | NoSuggestion":
    """Only of the first fill is the draft shown: the others are what may stand in its place."""
    if alternative or not (shows_draft and plan.is_at_cursor):
        return await session.engine.fill(plan.request(alternative, left_ms))
    with session.drafts.of(plan.snapshot) as on_step:
        request = plan.request(alternative, left_ms, is_watched=True)
        return await session.engine.fill(request, on_step)
