"""Suggests text for a snapshot: from the cache, else from the engine.

Shared by inline completion and completion. Our own errors are logged, and disturb no request.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import takewhile
from typing import TYPE_CHECKING

from intarsia.infill.calibration import percent_of
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.long_texts import parse_if_long, read_text
from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.manners.manners import Manners
from intarsia.lsp.next_edits.next_edits import NextEdits
from intarsia.lsp.project.project_contexts import ProjectContexts
from intarsia.lsp.requests.ghost_imports import with_imports
from intarsia.lsp.requests.look_ahead import look_ahead
from intarsia.lsp.session import Session
from intarsia.lsp.statistics import Recorder
from intarsia.lsp.suggestion_state import Suggestions
from intarsia.lsp.suggestions.ghost_text import GhostText
from intarsia.lsp.suggestions.request_outcome import RequestOutcome
from intarsia.lsp.suggestions.suggestion_cache import CachedSuggestions
from intarsia.lsp.suggestions.unfinished_fills import UnfinishedFill

if TYPE_CHECKING:
    from intarsia.engine.ipc.messages import Fill, Filled, Step
    from intarsia.infill.filling.attempts import Attempts
    from intarsia.lsp.requests.plan import ShownDraft

logger = logging.getLogger(__name__)

_STALE = "the document has changed"
_OTHER_SETTINGS = "the settings have changed"
_TOO_LATE = "the deadline passed before the engine was asked"


@dataclass(frozen=True, kw_only=True, slots=True)
class SuggestOptions:
    """How many suggestions a request gets, and how fast."""

    num_candidates: int
    debounce_ms: int
    deadline_ms: int
    shows_draft: bool = False
    shows_improbable: bool = False  # the user asked: a text is shown however improbable it is


async def answer(
    session: Session,
    uri: str,
    snapshot: Snapshot | NoSuggestion,
    *,
    is_automatic: Callable[[], bool],
    options: Callable[[Snapshot], SuggestOptions],
) -> RequestOutcome | None:
    """Return what a request is answered with, which is reported and followed up.

    None where a newer request of the document replaced it. The callbacks go by the settings, which
    are waited for.
    """
    asked_at = time.monotonic()
    outcome: RequestOutcome | None
    if isinstance(snapshot, NoSuggestion):
        outcome = RequestOutcome(reason=snapshot.reason)
        report(session, uri, outcome)
        return outcome
    await session.settings_requests.settled()
    if is_automatic() and (silent := _silent_outcome(session, snapshot)):
        report(session, uri, silent)
        return silent
    latest = session.feature(Suggestions).latest
    outcome = await latest.run(uri, suggest(session, snapshot, options(snapshot)))
    if outcome is not None:
        report(session, uri, outcome)
        session.answered(snapshot, outcome)
        look_ahead(session, snapshot, outcome, asked_at=asked_at)
    return outcome


def report(session: Session, uri: str, outcome: RequestOutcome) -> None:
    """Put a request's outcome into the status, and log and count why nothing was suggested."""
    if not outcome.ghosts:
        logger.info("no suggestion: %s", outcome.reason)
        session.feature(Recorder).count_reason(outcome.kind)
    session.status.request_answered(outcome.for_status(uri))


async def suggest(session: Session, snapshot: Snapshot, options: SuggestOptions) -> RequestOutcome:
    """Return suggestions for the snapshot's cursor, best first; our own errors are reasons."""
    try:
        if _replaces_a_name(session, snapshot):
            options = replace(options, shows_draft=False)
        outcome = await _suggest(session, snapshot, options)
        if options.shows_improbable:
            return outcome
        settings = session.settings_of(snapshot.document)
        return _behind_edits(
            session, snapshot, outcome.unasked(percent_of(settings.show_threshold))
        )
    except Exception as error:  # the one guard: no error may disturb typing
        logger.exception("a suggestion failed")
        return RequestOutcome(reason=f"an error in intarsia itself: {error!r}", is_failure=True)


def _behind_edits(session: Session, snapshot: Snapshot, outcome: RequestOutcome) -> RequestOutcome:
    """Return the outcome of an automatic request, without what an edit at hand forbids."""
    document, offset = snapshot.document, snapshot.offset - snapshot.document_start
    if not outcome.ghosts or session.feature(NextEdits).level_of(document) is None:
        return outcome
    refusal = session.feature(NextEdits).goes_before(document, offset, outcome.ghosts[0].text)
    if refusal is None:
        return outcome
    return replace(outcome, ghosts=(), reason=refusal.reason, kind=refusal.kind)


def _replaces_a_name(session: Session, snapshot: Snapshot) -> bool:
    document, offset = snapshot.document, snapshot.offset - snapshot.document_start
    if session.feature(NextEdits).level_of(document) is None:
        return False
    return bool(session.feature(NextEdits).replaced_at(document, offset))


async def _suggest(session: Session, snapshot: Snapshot, options: SuggestOptions) -> RequestOutcome:
    wait_s = session.feature(Suggestions).debounce.seconds_to_wait(
        snapshot.document.uri, options.debounce_ms
    )
    if refusal := session.refusal(snapshot.document):
        return RequestOutcome(reason=refusal.reason, kind=refusal.kind)
    cached = session.feature(Suggestions).cache.lookup(snapshot)
    if cached.ahead_s is not None:
        session.feature(Suggestions).ahead.count_hit(cached.ahead_s)
    if known := await _known(session, snapshot, options, cached):
        return known
    began = time.monotonic()
    if await session.feature(Suggestions).unfinished.finished(snapshot):
        cached = session.feature(Suggestions).cache.lookup(snapshot)
        if known := await _known(session, snapshot, options, cached):
            return known
    wait_s -= time.monotonic() - began
    if wait_s > 0:
        from intarsia.lsp.requests.plan import refusal_of_place

        if refusal := refusal_of_place(session, snapshot):
            return RequestOutcome(reason=refusal.reason, kind=refusal.kind)
        await asyncio.sleep(wait_s)
    if not snapshot.is_current(session.documents):
        return RequestOutcome(reason=_STALE, kind="outdated")
    if options.num_candidates > 1:
        return await _ask_engine(session, snapshot, options, cached)
    return await _ask_along(session, snapshot, options, cached)


async def _known(
    session: Session, snapshot: Snapshot, options: SuggestOptions, cached: CachedSuggestions
) -> RequestOutcome | None:
    """Return the outcome if the cache has all that is wanted."""
    if cached.reason is not None and options.num_candidates == 1 and not cached.ghosts:
        return RequestOutcome(reason=cached.reason, is_cached=True)
    if cached.is_complete or len(cached.ghosts) >= options.num_candidates:
        ghosts = await _keep_with_imports(session, snapshot, cached)
        return RequestOutcome(ghosts=ghosts[: options.num_candidates], is_cached=True)
    return None


async def _ask_along(
    session: Session, snapshot: Snapshot, options: SuggestOptions, cached: CachedSuggestions
) -> RequestOutcome:
    """Ask the engine; if the next key ends the request, the fill goes on while it fits the key."""
    fill = UnfinishedFill(snapshot=snapshot)
    asking = _ask_engine(session, snapshot, options, cached, fill.wrote)
    fill.task = asyncio.create_task(asking)
    try:
        await asyncio.wait({fill.task})
    except asyncio.CancelledError:
        session.feature(Suggestions).unfinished.keep(fill)
        raise
    return fill.task.result()


async def _ask_engine(
    session: Session,
    snapshot: Snapshot,
    options: SuggestOptions,
    cached: CachedSuggestions,
    wrote: Callable[[str], None] | None = None,
) -> RequestOutcome:
    """Add to the cached suggestions: the greedy fill, then alternatives, until there are enough.

    ``wrote`` is called with the beginning of the text that is settled.
    """
    from intarsia.infill.filling.attempts import ask_until_enough_pass
    from intarsia.lsp.fill_options import language_of
    from intarsia.lsp.requests.plan import (
        ShownDraft,
        is_first,
        plan_suggestion,
        read_ghost_text,
        request_for,
    )

    await parse_if_long(snapshot.text, snapshot.offset, language_of(snapshot.document))
    if not snapshot.is_current(session.documents):
        return RequestOutcome(reason=_STALE)
    plan = plan_suggestion(session, snapshot)
    if isinstance(plan, NoSuggestion):
        return RequestOutcome(reason=plan.reason, kind=plan.kind)
    settings = session.settings_of(snapshot.document)
    project = session.feature(ProjectContexts).of(snapshot.document.uri)
    draft = ShownDraft(session, snapshot, plan, shows_all=options.shows_improbable)
    read = cache(lambda filled: draft.kept_in(read_ghost_text(plan, settings, filled)))
    ends_at = time.monotonic() + options.deadline_ms / 1000

    async def fill(alternative: int) -> "Filled | NoSuggestion | None":
        left_ms = round(1000 * (ends_at - time.monotonic()))
        if left_ms <= 0 or not snapshot.is_current(session.documents):
            return None
        may_watch = plan.is_at_cursor and alternative == 0
        shows_draft = may_watch and options.shows_draft
        request = request_for(
            plan,
            settings,
            left_ms,
            alternative=alternative,
            is_watched=shows_draft or (may_watch and wrote is not None),
            project=project,
        )
        filled = await _fill(session, snapshot, request, draft if shows_draft else None, wrote)
        if not isinstance(filled, NoSuggestion):
            await read_text(snapshot.text, partial(read, filled))  # the loop reads it again
        return filled

    attempts = await ask_until_enough_pass(
        fill, read, num_needed=options.num_candidates, known=cached.ghosts
    )
    passed = attempts.passed
    if snapshot.is_current(session.documents):
        passed = await with_imports(session, snapshot, passed)
    if session.settings_of(snapshot.document) != settings:
        return RequestOutcome(reason=_OTHER_SETTINGS, kind="outdated", cost=attempts.cost)
    is_cut_short = attempts.filled is not None and attempts.filled.finish_reason == "deadline"
    if passed:
        is_complete = options.num_candidates > 1 and attempts.is_complete
        session.feature(Suggestions).cache.store(
            snapshot, CachedSuggestions(ghosts=passed, is_complete=is_complete)
        )
    elif attempts.is_complete and attempts.rejection and not is_cut_short:
        session.feature(Suggestions).cache.store(
            snapshot, CachedSuggestions(reason=attempts.rejection.reason)
        )
    if not snapshot.is_current(session.documents):
        return RequestOutcome(reason=_STALE, kind="outdated", cost=attempts.cost)
    attempts = replace(attempts, passed=passed)
    is_short = is_first(session, snapshot, plan)
    may_have_project = project is not None or session.feature(ProjectContexts).is_on(settings)
    return _outcome(attempts, is_short=is_short, may_have_project=may_have_project)


async def _keep_with_imports(
    session: Session, snapshot: Snapshot, cached: CachedSuggestions
) -> tuple[GhostText, ...]:
    """Return cached suggestions with their imports, and keep these where they are new."""
    if all(ghost.imports is not None for ghost in cached.ghosts):
        return cached.ghosts
    ghosts = await with_imports(session, snapshot, cached.ghosts)
    if ghosts != cached.ghosts:
        session.feature(Suggestions).cache.store(snapshot, replace(cached, ghosts=ghosts))
    return ghosts


def _outcome(
    attempts: "Attempts[GhostText]", *, is_short: bool, may_have_project: bool
) -> RequestOutcome:
    cost = attempts.cost
    lacks_project = may_have_project and cost is not None and cost.num_project == 0
    refusal = None if attempts.passed else attempts.failure or attempts.rejection
    reason = None if attempts.passed else _TOO_LATE if refusal is None else refusal.reason
    return RequestOutcome(
        ghosts=attempts.passed,
        reason=reason,
        kind="late" if refusal is None else refusal.kind,
        cost=cost,
        is_failure=not attempts.passed and attempts.failure is not None,
        may_be_revised=is_short or lacks_project,
    )


async def _fill(
    session: Session,
    snapshot: Snapshot,
    request: "Fill",
    draft: "ShownDraft | None",
    wrote: Callable[[str], None] | None,
) -> "Filled | NoSuggestion":
    """Ask the engine. A watched fill's draft is shown while it is written, if there is one."""
    if not request.watch:
        return await session.engine.fill(request)
    with session.feature(Suggestions).drafts.of(
        snapshot, draft.of if draft else lambda _: None
    ) as show:

        def on_step(step: "Step") -> None:
            if wrote is not None:
                settled = takewhile(lambda token: token.is_settled, step.tokens)
                wrote("".join(token.text for token in settled))
            show(step)

        return await session.engine.fill(request, on_step)


def _silent_outcome(session: Session, snapshot: Snapshot) -> RequestOutcome | None:
    """Return the outcome of an automatic request that is to get nothing, else None.

    The running request of the document ends then: it was made for another text or cursor.
    """
    if session.refusal(snapshot.document):
        return None  # nothing of such a document is looked at
    try:
        silence = session.feature(Manners).silence(snapshot)
    except Exception:
        logger.exception("the manners fail")
        return None
    if silence is None:
        return None
    session.feature(Suggestions).latest.end(snapshot.document.uri)
    return RequestOutcome(reason=silence.reason, kind=silence.kind)
