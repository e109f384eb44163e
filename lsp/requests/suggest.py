"""One request's straight line: snapshot → ghost texts, or the reason why there are none.

Shared by inline completion and completion; knows nothing of how either answers.
"""

import asyncio
import logging
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.eligibility import refusal
from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.session import Session
from intarsia.lsp.suggestions.answer import Answer
from intarsia.lsp.suggestions.suggestion_cache import Known

if TYPE_CHECKING:
    from intarsia.engine.ipc.messages import Fill, Filled

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
    from intarsia.infill.filling.attempts import ask_until_enough_pass
    from intarsia.lsp.requests.plan import plan_suggestion, read_ghost_text, request_for

    plan = plan_suggestion(snapshot, session.settings)
    if isinstance(plan, NoSuggestion):
        return Answer(reason=plan.reason)
    ends_at = time.monotonic() + ask.deadline_ms / 1000

    async def fill(alternative: int) -> "Filled | NoSuggestion | None":
        left_ms = round(1000 * (ends_at - time.monotonic()))
        if left_ms <= 0 or not snapshot.is_current(session.documents):
            return None
        shows_draft = ask.shows_draft and plan.is_at_cursor and alternative == 0
        request = request_for(
            plan, session.settings, left_ms, alternative=alternative, is_watched=shows_draft
        )
        return await _fill(session, snapshot, request)

    attempts = await ask_until_enough_pass(
        fill, partial(read_ghost_text, plan), num_needed=ask.num_candidates, known=known.ghosts
    )
    if not snapshot.is_current(session.documents):
        return Answer(reason=_STALE, work=attempts.cost)
    if not attempts.passed:
        why = attempts.failure or attempts.rejection
        reason = why.reason if why else _TOO_LATE
        return Answer(reason=reason, work=attempts.cost, is_failure=attempts.failure is not None)
    is_complete = ask.num_candidates > 1 and attempts.is_complete
    session.cache.store(snapshot, Known(ghosts=attempts.passed, is_complete=is_complete))
    return Answer(ghosts=attempts.passed, work=attempts.cost)


async def _fill(session: Session, snapshot: Snapshot, request: "Fill") -> "Filled | NoSuggestion":
    """Ask the engine. A watched fill's draft is shown while it is written."""
    if not request.watch:
        return await session.engine.fill(request)
    with session.drafts.of(snapshot) as on_step:
        return await session.engine.fill(request, on_step)
