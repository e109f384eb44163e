"""Suggests text for a snapshot: from the cache, else by a fill, which it asks for.

Shared by inline completion and completion. Our own errors are logged, and disturb no request.
"""

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial
from operator import methodcaller
from typing import Self

import msgspec

from intarsia.engine.ipc.messages import CanvasToken, Filled, Step
from intarsia.infill.calibration import percent_of
from intarsia.infill.filling.judged import (
    align,
    certain_beginning,
    judge,
    may_go_on,
    may_hide,
    whole_part,
)
from intarsia.infill.filling.plan import Attempts, FillPlan
from intarsia.infill.holes.hole import is_word_character, refusal_of_hole
from intarsia.infill.suggestion import ConfidentToken, NoSuggestion, Suggestion, without_start
from intarsia.infill.syntax.text import newline_of
from intarsia.lsp.documents import Snapshot
from intarsia.lsp.ghost_text import GhostText, RequestOutcome
from intarsia.lsp.manners import Manners
from intarsia.lsp.next_edits.next_edits import NextEdits
from intarsia.lsp.project.editor_members import EditorMembers
from intarsia.lsp.project.index_connection import IndexConnection, with_imports
from intarsia.lsp.project.project_contexts import ProjectContexts
from intarsia.lsp.session import Feature, Session
from intarsia.lsp.snapshots import MAX_CHARS_ON_LOOP, parse_at, refusal_of_fence
from intarsia.lsp.statistics import Recorder
from intarsia.lsp.suggestions import CachedSuggestions, Suggestions, UnfinishedFill, plan_suggestion

logger = logging.getLogger(__name__)


def read_ghost_text(plan: FillPlan, percent: int, filled: Filled) -> GhostText | NoSuggestion:
    """Clean the engine's text, place it at the cursor, and judge how much is shown unasked.

    What is shown must be probable by this percentage.
    """
    suggestion = plan.read_at_cursor(filled)
    if isinstance(suggestion, Suggestion):
        suggestion = whole_part(plan, filled, suggestion)
    if isinstance(suggestion, NoSuggestion):
        return suggestion
    judged = judge(plan, filled, suggestion, percent)
    is_whole = judged.shown_length == len(suggestion.text)
    return GhostText(
        suggestion.text,
        judged.tokens,
        shown_length=None if is_whole else judged.shown_length,
        probability=judged.probability,
    )


class ShownDraft:
    """The part of a suggestion that is shown while it settles, and so is kept in its answer.

    Nothing is shown that this percentage may hide at the end; 0 hides nothing.
    """

    def __init__(self, session: Session, plan: FillPlan, percent: int) -> None:
        self._session = session
        self._plan = plan
        self._percent = percent
        self._kept: tuple[ConfidentToken, ...] = ()

    def of(self, step: Step) -> Step | None:
        """Return a step as it is shown: what is kept as settled, and as guesses what may follow."""
        model = self._session.status.model
        if not may_hide(model, self._percent):
            return step
        if len(self._plan.text) <= MAX_CHARS_ON_LOOP:
            self._kept = certain_beginning(
                self._plan, step.tokens, self._kept, model, self._percent
            )
        if not self._kept:
            return None
        tokens = [CanvasToken(token.text, token.confidence, True) for token in self._kept]
        if may_go_on(self._plan, step.tokens, model, self._percent):
            written = [ConfidentToken(token.text, token.confidence) for token in step.tokens]
            guesses = without_start(written, sum(len(token.text) for token in self._kept))
            tokens += [CanvasToken(token.text, token.confidence, False) for token in guesses]
        return msgspec.structs.replace(step, tokens=tuple(tokens))

    def kept_in(self, read: GhostText | NoSuggestion) -> GhostText | NoSuggestion:
        """Return the answer with all that the draft has shown; that alone where it has less."""
        if not self._kept:
            return read
        plain = "".join(token.text for token in self._kept)
        kept = plain.replace("\n", newline_of(self._plan.text))
        if isinstance(read, GhostText) and read.text.startswith(kept):
            is_cut = read.shown_length is not None and read.shown_length < len(kept)
            return replace(read, shown_length=len(kept)) if is_cut else read
        return GhostText(kept, align(self._kept, kept))


_STALE = "the document has changed"
_OTHER_SETTINGS = "the settings have changed"
_LONGER_WORD = NoSuggestion(reason="the word that was just accepted would become longer")
_TOO_LATE = "the deadline passed before the engine was asked"


@dataclass(frozen=True, kw_only=True, slots=True)
class SuggestOptions:
    """How many suggestions a request gets, and how fast."""

    num_candidates: int
    is_debounced: bool  # it waits for the next key
    deadline_ms: int
    shows_draft: bool = False
    shows_improbable: bool = False  # the user asked: a text is shown however improbable it is
    is_automatic: bool = False  # nothing is suggested where the user wants nothing now


@dataclass(frozen=True, kw_only=True, slots=True)
class _Request:
    """A request, with what the features are asked once, as it begins."""

    snapshot: Snapshot
    options: SuggestOptions
    percent: int  # how probable a text must be, to be shown unasked
    replaced: Sequence[tuple[str, str]]  # by the edit at hand, at the cursor
    is_word_accepted: bool  # the one before the cursor

    @property
    def is_long(self) -> bool:
        """Whether its text is read and parsed in a thread."""
        return len(self.snapshot.text) > MAX_CHARS_ON_LOOP

    @property
    def shows_draft(self) -> bool:
        return self.options.shows_draft and not self.replaced and not self.is_word_accepted


class Suggester(Feature):
    """Answers the requests of one client, with the features that it finds once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._documents, self._in_force = session.documents, session.in_force
        self._suggestions = session.feature(Suggestions)
        self._manners = session.feature(Manners)
        self._next_edits = session.feature(NextEdits)
        self._members = session.feature(EditorMembers)
        self._contexts = session.feature(ProjectContexts)
        self._index = session.feature(IndexConnection)
        self._recorder = session.feature(Recorder)

    @classmethod
    def for_session(cls, session: Session) -> Self:
        return cls(session)

    async def answer(self, snapshot: Snapshot, options: SuggestOptions) -> RequestOutcome | None:
        """Return what a request is answered with, which is reported and followed up.

        None where a newer request of the document replaced it.
        """
        uri = snapshot.document.uri
        self._suggestions.end_request(uri)  # it was made for another text or cursor
        if options.is_automatic and (silent := self._silent_outcome(snapshot)):
            self.report(uri, silent)
            return silent
        task = asyncio.create_task(self.suggest(snapshot, options))
        self._suggestions.requests[uri] = task
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
        if task.cancelled():
            return None
        outcome = task.result()
        self.report(uri, outcome)
        self._session.start(self._follow(snapshot, outcome))
        return outcome

    async def _follow(self, snapshot: Snapshot, outcome: RequestOutcome) -> None:
        """Let all features follow an answer, once it is sent."""
        await asyncio.sleep(0)
        self._session.features.tell_all(methodcaller("answered", snapshot, outcome))

    def report(self, uri: str, outcome: RequestOutcome) -> None:
        """Put an outcome into the status, and log and count why nothing was suggested."""
        if not outcome.ghosts:
            logger.info("no suggestion: %s", outcome.reason)
            self._recorder.count_reason(outcome.kind)
        self._session.status.request_answered(outcome.for_status(uri))

    async def suggest(self, snapshot: Snapshot, options: SuggestOptions) -> RequestOutcome:
        """Return suggestions for the snapshot's cursor, best first; our own errors are reasons."""
        try:
            request = _Request(
                snapshot=snapshot,
                options=options,
                percent=percent_of(snapshot.settings.show_threshold),
                replaced=self._next_edits.replaced_at(snapshot),
                is_word_accepted=self._manners.is_word_accepted(snapshot),
            )
            outcome = await self._without_engine(request)
            if isinstance(outcome, CachedSuggestions):
                # If the next key ends the request, the fill goes on while it fits the key.
                fill = UnfinishedFill(snapshot=snapshot)
                fill.task = asyncio.create_task(self._ask_engine(request, outcome, fill))
                try:
                    await asyncio.wait({fill.task})
                except asyncio.CancelledError:
                    if options.num_candidates > 1:
                        fill.task.cancel()
                    else:
                        self._suggestions.unfinished.keep(fill)
                    raise
                outcome = fill.task.result()
            return outcome if options.shows_improbable else self._unasked(request, outcome)
        except Exception as error:  # the one guard: no error may disturb typing
            logger.exception("a suggestion failed")
            return RequestOutcome(reason=f"an error in intarsia itself: {error!r}", is_failure=True)

    def _unasked(self, request: _Request, outcome: RequestOutcome) -> RequestOutcome:
        """Return what is shown to a user who did not ask: neither what is improbable, nor what an
        edit at hand forbids."""
        outcome = outcome.unasked(request.percent)
        if not outcome.ghosts:
            return outcome
        text = outcome.ghosts[0].text
        if request.is_word_accepted and is_word_character(text[0]):
            return outcome.refused(_LONGER_WORD)
        uri = request.snapshot.document.uri
        refusal = self._next_edits.goes_before(uri, text, request.replaced)
        return outcome if refusal is None else outcome.refused(refusal)

    async def _without_engine(self, request: _Request) -> RequestOutcome | CachedSuggestions:
        """Return the outcome of a request that the engine is not asked for; else, after a pause
        for the next key, what is known already."""
        snapshot, suggestions = request.snapshot, self._suggestions
        wait_ms = self._manners.debounce_ms(snapshot) if request.options.is_debounced else 0
        wait_s = suggestions.debounce.seconds_to_wait(snapshot.document.uri, wait_ms)
        if snapshot.refusal is not None:
            return RequestOutcome().refused(snapshot.refusal)
        cached = suggestions.cache.lookup(snapshot)
        if cached.ahead_s is not None:
            suggestions.ahead.count_hit(cached.ahead_s)
        if known := await self._known(request, cached):
            return known
        began = time.monotonic()
        if await suggestions.unfinished.finished(snapshot):
            cached = suggestions.cache.lookup(snapshot)
            if known := await self._known(request, cached):
                return known
        wait_s -= time.monotonic() - began
        if wait_s > 0:
            text, offset = snapshot.text, snapshot.offset
            if refusal := refusal_of_fence(snapshot) or refusal_of_hole(text, offset):
                return RequestOutcome().refused(refusal)
            if not request.is_long:
                self._members.ask_early(snapshot)
            await asyncio.sleep(wait_s)
        return cached

    async def _known(self, request: _Request, cached: CachedSuggestions) -> RequestOutcome | None:
        """Return the outcome if the cache has all that is wanted."""
        num_wanted = request.options.num_candidates
        if cached.reason is not None and num_wanted == 1 and not cached.ghosts:
            return RequestOutcome(reason=cached.reason, kind=cached.kind, is_cached=True)
        if cached.is_complete or len(cached.ghosts) >= num_wanted:
            ghosts = await self._keep_with_imports(request.snapshot, cached)
            return RequestOutcome(ghosts=ghosts[:num_wanted], is_cached=True)
        return None

    async def _ask_engine(
        self, request: _Request, cached: CachedSuggestions, unfinished: UnfinishedFill
    ) -> RequestOutcome:
        """Add to what is cached: the greedy fill, then alternatives, until there are enough.

        ``unfinished`` gets the beginning of the text that is settled.
        """
        snapshot, options, suggestions = request.snapshot, request.options, self._suggestions
        if request.is_long:
            await asyncio.to_thread(parse_at, snapshot.text, snapshot.offset, snapshot.language)
            if not snapshot.is_current(self._documents):
                return RequestOutcome(reason=_STALE, kind="outdated")
        plan = plan_suggestion(suggestions, snapshot)
        if isinstance(plan, NoSuggestion):
            return RequestOutcome().refused(plan)
        project = self._contexts.of(snapshot.document.uri)
        names = await self._members.allowed(snapshot)
        draft = ShownDraft(self._session, plan, 0 if options.shows_improbable else request.percent)
        read = cache(lambda filled: draft.kept_in(read_ghost_text(plan, request.percent, filled)))
        ends_at = time.monotonic() + options.deadline_ms / 1000
        attempts = Attempts(read, options.num_candidates, cached.ghosts, is_awaited=True)
        for alternative in attempts:
            left_ms = round(1000 * (ends_at - time.monotonic()))
            if left_ms <= 0 or not snapshot.is_current(self._documents):
                attempts.take(None)
                break
            may_watch = plan.is_at_cursor and alternative == 0
            shows_draft = may_watch and request.shows_draft
            is_watched = shows_draft or (may_watch and options.num_candidates == 1)
            asked = replace(snapshot.options, deadline_ms=left_ms, project=project, names=names)
            fill = plan.request(
                asked,
                alternative=alternative,
                anywhere=bool(attempts.passed),  # where none passes, it began wrongly
                is_watched=is_watched,
            )
            drafts = suggestions.drafts.of(snapshot, draft.of) if shows_draft else nullcontext()
            with drafts as show:
                on_step = partial(unfinished.follow, show=show) if is_watched else None
                filled = await self._session.engine.fill(fill, on_step)
            if request.is_long and isinstance(filled, Filled):
                await asyncio.to_thread(read, filled)  # the loop reads it again
            attempts.take(filled)
        outcome = await self._kept(request, attempts)
        return replace(outcome, is_short=plan.canvas.is_short)

    async def _kept(self, request: _Request, attempts: Attempts[GhostText]) -> RequestOutcome:
        """Keep what the engine has answered, with its imports; return the request's outcome."""
        snapshot = request.snapshot
        if snapshot.is_current(self._documents):
            attempts.passed = await with_imports(self._index, snapshot, attempts.passed)
        if self._in_force.of(snapshot.document) != snapshot.settings:
            return RequestOutcome(reason=_OTHER_SETTINGS, kind="outdated", cost=attempts.cost)
        known = None
        if attempts.passed:
            is_complete = request.options.num_candidates > 1 and attempts.is_complete
            known = CachedSuggestions(ghosts=attempts.passed, is_complete=is_complete)
        elif attempts.is_complete and attempts.rejection and not attempts.is_cut_short:
            why = attempts.rejection
            known = CachedSuggestions(reason=why.reason, kind=why.kind)
        if known is not None:
            self._suggestions.cache.store(snapshot, known)
        if not snapshot.is_current(self._documents):
            return RequestOutcome(reason=_STALE, kind="outdated", cost=attempts.cost)
        return _outcome(attempts)

    async def _keep_with_imports(
        self, snapshot: Snapshot, cached: CachedSuggestions
    ) -> tuple[GhostText, ...]:
        """Return cached suggestions with their imports, and keep these where they are new."""
        if all(ghost.imports is not None for ghost in cached.ghosts):
            return cached.ghosts
        ghosts = await with_imports(self._index, snapshot, cached.ghosts)
        if ghosts != cached.ghosts:
            self._suggestions.cache.store(snapshot, replace(cached, ghosts=ghosts))
        return ghosts

    def _silent_outcome(self, snapshot: Snapshot) -> RequestOutcome | None:
        """Return the outcome of an automatic request that is to get nothing, else None."""
        if snapshot.refusal is not None:
            return None  # nothing of such a document is looked at
        try:
            silence = self._manners.silence(snapshot)
        except Exception:
            logger.exception("the manners fail")
            return None
        return None if silence is None else RequestOutcome().refused(silence)


def _outcome(attempts: Attempts[GhostText]) -> RequestOutcome:
    refusal = None if attempts.passed else attempts.failure or attempts.rejection
    reason = None if attempts.passed else _TOO_LATE if refusal is None else refusal.reason
    return RequestOutcome(
        ghosts=attempts.passed,
        reason=reason,
        kind="late" if refusal is None else refusal.kind,
        cost=attempts.cost,
        is_failure=not attempts.passed and attempts.failure is not None,
    )
