"""One request's straight line: snapshot → ghost texts, or the reason why there are none.

Shared by inline completion and completion; knows nothing of how either answers.
"""

import asyncio
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from intarsia.infill.filling.cost import EngineCost
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.eligibility import refusal
from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.session import Session
from intarsia.lsp.suggestions.answer import Answer
from intarsia.lsp.suggestions.suggestion_cache import Known

if TYPE_CHECKING:
    from intarsia.engine.ipc.messages import Filled
    from intarsia.lsp.requests.plan import FillPlan

logger = logging.getLogger(__name__)

_STALE = "the document has changed meanwhile"
_TOO_LATE = "the deadline passed before the engine was asked"


@dataclass(frozen=True, kw_only=True, slots=True)
class Ask:
    """How a request is to be answered."""

    num_candidates: int
    debounce_ms: int
    deadline_ms: int
    shows_draft: bool = False


async def suggest(session: Session, snapshot: Snapshot, ask: Ask) -> Answer:
    """Return what fits at the snapshot's cursor, best first; a fault of ours is a reason too."""
    try:
        return await _suggest(session, snapshot, ask)
    except Exception as error:  # the one guard: typing goes on whatever happens
        logger.exception("a suggestion failed")
        return Answer(reason=f"an error in intarsia itself: {error!r}", is_failure=True)


async def _suggest(session: Session, snapshot: Snapshot, ask: Ask) -> Answer:
    wait_s = session.debounce.seconds_to_wait(snapshot.document.uri, ask.debounce_ms)
    if refused := refusal(session.settings, snapshot.document):
        return Answer(reason=refused.reason)
    known = session.cache.lookup(snapshot)
    if known.is_complete or len(known.ghosts) >= ask.num_candidates:
        return Answer(ghosts=known.ghosts[: ask.num_candidates], is_known=True)
    if wait_s:
        await asyncio.sleep(wait_s)
    if not snapshot.is_current(session.documents):
        return Answer(reason=_STALE)
    return await _ask_engine(session, snapshot, ask, known)


async def _ask_engine(session: Session, snapshot: Snapshot, ask: Ask, known: Known) -> Answer:
    """Add to what is known: the greedy fill, then its alternatives, until there are enough."""
    from intarsia.infill.filling.plan import EXTRA_ATTEMPTS
    from intarsia.lsp.requests.plan import plan_fill

    plan = plan_fill(snapshot, session.settings)
    if isinstance(plan, NoSuggestion):
        return Answer(reason=plan.reason)
    ends_at = time.monotonic() + ask.deadline_ms / 1000
    ghosts, work, refused, failure, is_late = list(known.ghosts), None, None, None, False
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
        return Answer(reason=_STALE, work=work)
    if not ghosts:
        why = failure or refused
        reason = why.reason if why else _TOO_LATE
        return Answer(reason=reason, work=work, is_failure=failure is not None)
    is_complete = ask.num_candidates > 1 and failure is None and not is_late
    session.cache.store(snapshot, Known(ghosts=tuple(ghosts), is_complete=is_complete))
    return Answer(ghosts=tuple(ghosts), work=work)


async def _fill(
    session: Session, plan: "FillPlan", alternative: int, left_ms: int, *, shows_draft: bool
) -> "Filled | NoSuggestion":
    """Only of the first fill is the draft shown: the others are what may stand in its place."""
    if alternative or not (shows_draft and plan.is_at_cursor):
        return await session.engine.fill(plan.request(alternative, left_ms))
    with session.drafts.of(plan.snapshot) as on_step:
        request = plan.request(alternative, left_ms, is_watched=True)
        return await session.engine.fill(request, on_step)
