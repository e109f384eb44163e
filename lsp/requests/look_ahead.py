"""Fills the places where the user may be next, while they read a suggestion.

These are the place after the suggestion, once it is accepted, and the line below. The answers go
into the cache of suggestions, so that the next request is answered at once. Before them, an answer
without the code of other files is written again with it; after them, one from a short window with
all of the context. A text that differs is revised.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from typing import Self

from intarsia.infill.calibration import percent_of
from intarsia.infill.filling.plan import Attempts, FillPlan
from intarsia.infill.holes.hole import end_and_next_line
from intarsia.infill.imports.add_imports import import_edits
from intarsia.infill.replacement import with_replaced
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.text import line_end
from intarsia.lsp.ahead_chain import PAUSE_S, Step
from intarsia.lsp.documents import Snapshot
from intarsia.lsp.ghost_text import GhostText, RequestOutcome
from intarsia.lsp.manners import Strain
from intarsia.lsp.next_edits.next_edits import NextEdits
from intarsia.lsp.project.editor_members import EditorMembers
from intarsia.lsp.project.project_contexts import OpenHole, ProjectContexts
from intarsia.lsp.requests.suggest import read_ghost_text
from intarsia.lsp.session import Feature, Session
from intarsia.lsp.snapshots import parse_if_long, prose_silence, read_text
from intarsia.lsp.suggestions import CachedSuggestions, Suggestions, plan_ahead, plan_whole

MAX_CHOICE_S = 1.0
"""How long the other steps wait for the choice of code of other files: an index may be busy."""


class LookAhead(Feature):
    """Starts the fills that may follow an answered request, if the settings allow it."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @classmethod
    def for_session(cls, session: Session) -> Self:
        return cls(session)

    def answered(self, snapshot: Snapshot, outcome: RequestOutcome) -> None:
        session = self._session
        if outcome.ghosts or outcome.cost is not None:
            hole = partial(_hole_of, session, snapshot)
            session.feature(ProjectContexts).refresh(snapshot.document, hole)
        if not _may_look_ahead(session, snapshot, outcome):
            return
        suggestions = session.feature(Suggestions)
        suggestions.ahead.start(
            _steps(session, snapshot, outcome),
            partial(_take, session),
            begins_at=snapshot.taken_at + PAUSE_S,
            until_then=_at_once(session, snapshot, outcome),
            # Where nothing is shown to accept, what the edit has left to change comes first.
            wait=None if outcome.ghosts else session.feature(NextEdits).none_due,
        )


def _hole_of(session: Session, snapshot: Snapshot) -> OpenHole | None:
    """Return the hole of a request, for which code of other files is chosen.

    That is read before as much of the document as the next request reads.
    """
    suggestions = session.feature(Suggestions)
    plan = first = plan_ahead(suggestions, snapshot)
    if isinstance(first, FillPlan) and first.canvas.is_short:
        plan = plan_whole(suggestions, snapshot)
    if isinstance(plan, NoSuggestion) or isinstance(first, NoSuggestion):
        return None
    if not snapshot.is_current(session.documents):
        return None
    fill = first.request(snapshot.options)
    return OpenHole(document=snapshot.document, plan=plan, fill=fill)


def _may_look_ahead(session: Session, snapshot: Snapshot, outcome: RequestOutcome) -> bool:
    """Whether the engine answered for this document, and the computer has power to spare."""
    is_answered = outcome.is_cached or (outcome.cost is not None and not outcome.is_failure)
    if not is_answered or not snapshot.is_current(session.documents):
        return False
    return session.feature(Strain).allows_idle_work(snapshot.settings)


def _steps(session: Session, asked: Snapshot, outcome: RequestOutcome) -> list[Step]:
    """Return what to do after an answer.

    An answer without the code of other files is written again with it first: what is filled ahead
    then has it, too. All of the document comes last, which takes longest and changes least.
    """
    contexts, cache = session.feature(ProjectContexts), session.feature(Suggestions).cache
    places = [it for it in _places(asked, outcome) if not cache.has(it)]
    steps = [*map(Step, places), Step(asked, "whole")]
    has_project = contexts.of(asked.document.uri) is not None or contexts.is_on(asked.settings)
    if has_project and outcome.cost is not None and outcome.cost.num_project == 0:
        steps.insert(0, Step(asked, "with_project"))
    return steps


def _at_once(session: Session, asked: Snapshot, outcome: RequestOutcome) -> Step | None:
    """Return the step for the time between two keys: the rest of the document is read once the
    code of other files is, or there is none."""
    if not outcome.is_short or outcome.cost is None:
        return None
    has_none = session.feature(ProjectContexts).has_none
    is_read = outcome.cost.num_project > 0 or has_none(asked.document.uri)
    return Step(asked, "whole") if is_read else None


def _places(snapshot: Snapshot, outcome: RequestOutcome) -> Iterator[Snapshot]:
    """Yield the place after accepting what is shown, if anything is, and the line below it.

    Last, where a suggestion was accepted before at the end of a line, comes the line below the
    cursor: the user may go on there without accepting another one.
    """
    language = snapshot.language

    def below(text: str, offset: int) -> Snapshot:
        end, typed = end_and_next_line(text, offset, language)
        return _as_place(snapshot, text[:end] + typed + text[end:], end + len(typed))

    text, offset = snapshot.text, snapshot.offset
    shown = next(iter(outcome.ghosts), None)
    if shown is None:
        yield below(text, offset)
        return
    accepted = text[:offset] + shown.text + text[offset:]
    edits = import_edits(accepted, shown.imports or (), offset, language)
    after = offset + len(shown.text)
    after += sum(it.growth for it in edits if it.end <= after)
    accepted = with_replaced(accepted, edits)
    yield _as_place(snapshot, accepted, after)
    yield below(accepted, after)
    if outcome.is_cached and offset == line_end(text, offset):
        yield below(text, offset)


def _as_place(snapshot: Snapshot, text: str, offset: int) -> Snapshot:
    place = snapshot.place + offset - snapshot.offset
    return replace(snapshot, text=text, offset=offset, place=place, selected=None)


async def _take(session: Session, step: Step) -> None:
    place = step.place
    await parse_if_long(place.text, place.offset, place.language)
    if step.kind == "with_project":
        await _revise_with_project(session, place)
    elif step.kind == "whole":
        await _revise_whole(session, place)
    else:
        await _fill_next(session, place)


async def _fill_next(session: Session, place: Snapshot) -> None:
    if prose_silence(place):
        return  # no automatic request is answered there
    plan = plan_ahead(session.feature(Suggestions), place)
    if isinstance(plan, NoSuggestion):
        return  # a request is told so at once
    attempts = await _attempt(session, place, plan)
    if attempts is not None:
        seconds = attempts.cost.ms / 1000 if attempts.cost else None
        _keep(session, place, attempts, seconds)


async def _revise_with_project(session: Session, asked: Snapshot) -> None:
    """Ask again with the code of other files, if it is chosen soon."""
    uri = asked.document.uri
    with suppress(TimeoutError):
        async with asyncio.timeout(MAX_CHOICE_S):
            await session.feature(ProjectContexts).refreshed(uri)
    plan = plan_ahead(session.feature(Suggestions), asked)
    if session.feature(ProjectContexts).of(uri) is not None and isinstance(plan, FillPlan):
        names = await session.feature(EditorMembers).allowed(asked, is_idle=True)
        await _revise(session, asked, plan, names)


async def _revise_whole(session: Session, asked: Snapshot) -> None:
    """Ask again with all that may be read, if that is more, or if late names refute the answer."""
    suggestions = session.feature(Suggestions)
    plan, first = plan_whole(suggestions, asked), plan_ahead(suggestions, asked)
    if isinstance(plan, NoSuggestion) or isinstance(first, NoSuggestion):
        return
    names = await session.feature(EditorMembers).allowed(asked, is_idle=True)
    known = next(iter(suggestions.cache.lookup(asked).ghosts), None)
    is_refuted = known is not None and not plan.is_named(known.text, names)
    if first.canvas.is_short or is_refuted:
        await _revise(session, asked, plan, names)


async def _revise(session: Session, asked: Snapshot, plan: FillPlan, names: Sequence[str]) -> None:
    """Ask again by this plan, for one of these names; if the text differs, tell the client."""
    suggestions = session.feature(Suggestions)
    if not asked.is_current(session.documents):
        return
    attempts = await _attempt(session, asked, plan, names=names, is_revision=True)
    if attempts is None or not asked.is_current(session.documents):
        return
    windows = suggestions.first_windows if plan.canvas.is_short else suggestions.windows
    windows.remember(asked.document.uri, plan.canvas.window)
    known = next(iter(suggestions.cache.lookup(asked).ghosts), None)
    revised = next(iter(attempts.passed), None)
    if revised is not None and is_better(revised, known):
        _keep(session, asked, attempts, None)
        if asked.shows_drafts and not revised.is_hidden:
            suggestions.drafts.revise(asked, revised.shown.tokens)


def is_better(revised: GhostText, known: GhostText | None) -> bool:
    """Whether a revision replaces what is known: another text, or one that is now probable enough.

    It does not take a text away that is shown.
    """
    if known is None:
        return True
    if known.is_hidden:
        return revised.text != known.text or not revised.is_hidden
    return revised.text != known.text and not revised.is_hidden


async def _attempt(
    session: Session,
    place: Snapshot,
    plan: FillPlan,
    *,
    names: Sequence[str] = (),
    is_revision: bool = False,
) -> Attempts[GhostText] | None:
    """Fill one place as a request would; None where the engine did not answer to the end.

    A revision may wait for the code of other files. It is not counted: its answer was there before.
    """
    engine, percent = session.engine, percent_of(place.settings.show_threshold)
    options = replace(
        place.options,
        project=session.feature(ProjectContexts).of(place.document.uri),
        names=names,
        project_use="always" if is_revision else "if_cached",
        is_background=True,
        is_ahead=True,
    )
    read = cache(partial(read_ghost_text, plan, percent))
    attempts, spent_s = Attempts(read), 0.0
    try:
        for alternative in attempts:
            started, filled = time.monotonic(), None
            if engine.can_fill_ahead:
                try:
                    request = plan.request(options, alternative=alternative)
                    filled = await engine.fill_ahead(request)
                finally:
                    spent_s += time.monotonic() - started
            if filled is not None and filled.finish_reason == "deadline":
                filled = None  # a request would get all of what the deadline has cut short here
            if filled is not None:
                await read_text(place.text, partial(read, filled))  # the loop reads it again
            attempts.take(filled)
    finally:
        if spent_s and not is_revision:
            session.feature(Suggestions).ahead.count_asked(spent_s)
    return attempts if attempts.passed or attempts.is_complete else None


def _keep(
    session: Session, place: Snapshot, attempts: Attempts[GhostText], ahead_s: float | None
) -> None:
    """Put the answer into the cache, or that nothing fits."""
    session.feature(Suggestions).cache.store(
        place,
        CachedSuggestions(
            ghosts=attempts.passed,
            reason=attempts.rejection.reason if attempts.rejection else None,
            ahead_s=ahead_s,
        ),
    )
