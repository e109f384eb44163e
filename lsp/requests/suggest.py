"""Suggests text for a snapshot: from the cache, else by a fill, which it plans and asks for.

Shared by inline completion and completion. Our own errors are logged, and disturb no request.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import takewhile
from typing import Any, Self

import msgspec

from intarsia.engine.ipc.messages import CanvasToken, Fill, Filled, Step
from intarsia.infill.calibration import percent_of
from intarsia.infill.canvas import MOST_KEPT, budget_chars, unread_chars
from intarsia.infill.filling.judged import align, certain_beginning, judge, may_hide
from intarsia.infill.filling.plan import Attempts, FillPlan, plan_at_cursor
from intarsia.infill.holes.hole import is_word_character, refusal_of_hole
from intarsia.infill.suggestion import ConfidentToken, NoSuggestion, without_start
from intarsia.infill.syntax.text import newline_of
from intarsia.lsp.documents import Snapshot
from intarsia.lsp.ghost_text import GhostText, RequestOutcome
from intarsia.lsp.manners import Manners
from intarsia.lsp.next_edits.next_edits import NextEdits
from intarsia.lsp.project.editor_members import EditorMembers
from intarsia.lsp.project.index_connection import IndexConnection, with_imports
from intarsia.lsp.project.project_contexts import ProjectContexts
from intarsia.lsp.session import Feature, Session
from intarsia.lsp.settings import Settings
from intarsia.lsp.snapshots import (
    MAX_CHARS_ON_LOOP,
    fence_ineligibility,
    options_of,
    parse_if_long,
    read_text,
)
from intarsia.lsp.statistics import Recorder
from intarsia.lsp.suggestions import CachedSuggestions, Suggestions, UnfinishedFill

logger = logging.getLogger(__name__)

FIRST_BUDGET = {"prefix_tokens": 500, "suffix_tokens": 150}
"""The most that is read for the first answer at a new place; the rest is read in idle time."""


def plan_suggestion(suggestions: Suggestions, snapshot: Snapshot) -> FillPlan | NoSuggestion:
    """Find the hole at the cursor and cut the text around it to what is read for this answer.

    The document's next plan keeps the edges of this one where it can.
    """
    whole = plan_whole(suggestions, snapshot)
    if isinstance(whole, NoSuggestion):
        return whole
    first = first_plan(suggestions, snapshot, whole)
    windows, plan = suggestions.windows, whole
    if first is not None:
        windows, plan = suggestions.first_windows, first
    windows.remember(snapshot.document.uri, plan.canvas.window)
    return plan


def plan_ahead(suggestions: Suggestions, snapshot: Snapshot) -> FillPlan | NoSuggestion:
    """Plan a fill as for a request, for a text that the document may have next; forget it."""
    whole = plan_whole(suggestions, snapshot)
    if isinstance(whole, NoSuggestion):
        return whole
    return first_plan(suggestions, snapshot, whole) or whole


def plan_whole(suggestions: Suggestions, snapshot: Snapshot) -> FillPlan | NoSuggestion:
    """Plan a fill with all that the settings allow to be read."""
    if refusal := _refusal_of_fence(snapshot):
        return refusal
    return plan_at_cursor(
        snapshot.text,
        snapshot.offset,
        snapshot.language,
        options_of(snapshot.settings, 0),
        suggestions.windows.of(snapshot.document.uri),
        is_word_whole=snapshot.selected is not None,
    )


def refusal_of_place(snapshot: Snapshot) -> NoSuggestion | None:
    """Return why nothing will be planned at the cursor, None where a fill is."""
    return _refusal_of_fence(snapshot) or refusal_of_hole(snapshot.text, snapshot.offset)


def _refusal_of_fence(snapshot: Snapshot) -> NoSuggestion | None:
    disabled, offset = snapshot.settings.disabled_languages, snapshot.offset
    return fence_ineligibility(disabled, snapshot.text, offset, offset, snapshot.language)


def is_first(suggestions: Suggestions, snapshot: Snapshot, plan: FillPlan) -> bool:
    """Whether a plan of ``plan_suggestion`` reads less than the settings allow."""
    return plan.canvas.window not in suggestions.windows.of(snapshot.document.uri)


def first_plan(suggestions: Suggestions, snapshot: Snapshot, whole: FillPlan) -> FillPlan | None:
    """Return a plan for the same hole that reads little: all of the prefix only if it is read.

    None where the whole window is short, is nearly read, or would not be read in idle time.
    """
    settings, uri = snapshot.settings, snapshot.document.uri
    if not suggestions.strain.allows_idle_work(settings):
        return None
    canvas, budget = whole.canvas, options_of(settings, 0).budget
    first = replace(
        budget,
        prefix_tokens=min(budget.prefix_tokens, FIRST_BUDGET["prefix_tokens"]),
        suffix_tokens=min(budget.suffix_tokens, FIRST_BUDGET["suffix_tokens"]),
    )
    prefix_chars = budget_chars(first.prefix_tokens)
    suffix_chars = MOST_KEPT * budget_chars(first.suffix_tokens)
    if len(canvas.prefix) <= prefix_chars and len(canvas.suffix) <= suffix_chars:
        return None
    read = suggestions.windows.of(uri)
    earlier = suggestions.first_windows.of(uri)
    shown = canvas.window
    unread = unread_chars(whole.text, shown.start, shown.hole, shown.suffix, read)
    if unread is not None:
        num_chars = unread.prefix_chars + unread.suffix_chars
        most = budget_chars(first.prefix_tokens + first.suffix_tokens)
        if unread.suffix_chars <= suffix_chars and num_chars <= most:
            return None
        if unread.prefix_chars <= prefix_chars:
            first = replace(first, prefix_tokens=budget.prefix_tokens)
            earlier = (*read, *earlier)
    return whole.cut_to(first, earlier)


def request_for(
    plan: FillPlan,
    settings: Settings,
    deadline_ms: int,
    *,
    alternative: int = 0,
    is_watched: bool = False,
    **others: Any,
) -> Fill:
    """Return the message for the engine; alternative 0 is the greedy fill.

    ``others`` are fields of ``FillOptions`` that no setting is for.
    """
    options = options_of(settings, deadline_ms, **others)
    return plan.request(options, alternative=alternative, is_watched=is_watched)


def read_ghost_text(plan: FillPlan, settings: Settings, filled: Filled) -> GhostText | NoSuggestion:
    """Clean the engine's text, place it at the cursor, and judge how much is shown unasked."""
    suggestion = plan.read_at_cursor(filled)
    if isinstance(suggestion, NoSuggestion):
        return suggestion
    percent = percent_of(settings.show_threshold)
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

    Unless the user asked, nothing is shown that the threshold may hide at the end.
    """

    def __init__(
        self, session: Session, snapshot: Snapshot, plan: FillPlan, *, shows_all: bool
    ) -> None:
        self._session = session
        self._settings = snapshot.settings
        self._plan = plan
        self._percent = 0 if shows_all else percent_of(self._settings.show_threshold)
        self._kept: tuple[ConfidentToken, ...] = ()

    def of(self, step: Step) -> Step | None:
        """Return a step as it is shown: what is kept as settled, all else as guesses."""
        model = self._session.status.model
        if not may_hide(model, self._percent):
            return step
        if len(self._plan.text) <= MAX_CHARS_ON_LOOP:
            self._kept = certain_beginning(
                self._plan, step.tokens, self._kept, model, self._percent
            )
        if not self._kept:
            return None
        written = [ConfidentToken(token.text, token.confidence) for token in step.tokens]
        guesses = without_start(written, sum(len(token.text) for token in self._kept))
        tokens = [CanvasToken(token.text, token.confidence, True) for token in self._kept]
        tokens += [CanvasToken(token.text, token.confidence, False) for token in guesses]
        return msgspec.structs.replace(step, tokens=tuple(tokens))

    def kept_in(self, read: GhostText | NoSuggestion) -> GhostText | NoSuggestion:
        """Return the answer with all that the draft has shown; that alone where it has less."""
        plain = "".join(token.text for token in self._kept)
        kept = plain.replace("\n", newline_of(self._plan.text))
        if isinstance(read, GhostText) and read.text.startswith(kept):
            is_cut = read.shown_length is not None and read.shown_length < len(kept)
            return replace(read, shown_length=len(kept)) if is_cut else read
        return GhostText(kept, align(self._kept, kept)) if kept else read


_STALE = "the document has changed"
_OTHER_SETTINGS = "the settings have changed"
_LONGER_WORD = NoSuggestion(reason="the word that was just accepted would become longer")
_TOO_LATE = "the deadline passed before the engine was asked"


@dataclass(frozen=True, kw_only=True, slots=True)
class SuggestOptions:
    """How many suggestions a request gets, and how fast."""

    num_candidates: int
    debounce_ms: int
    deadline_ms: int
    shows_draft: bool = False
    shows_improbable: bool = False  # the user asked: a text is shown however improbable it is
    is_automatic: bool = False  # nothing is suggested where the user wants nothing now


class Suggester(Feature):
    """Answers the requests of one client, with the features that it finds once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._documents = session.documents
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
        uri, latest = snapshot.document.uri, self._suggestions.latest
        latest.end(uri)  # it was made for another text or cursor
        if options.is_automatic and (silent := self._silent_outcome(snapshot)):
            self.report(uri, silent)
            return silent
        task = asyncio.create_task(self.suggest(snapshot, options))
        with latest.running(uri, task):
            await asyncio.wait({task})
        if task.cancelled():
            return None
        outcome = task.result()
        self.report(uri, outcome)
        self._session.start(self._follow(snapshot, outcome))
        return outcome

    async def _follow(self, snapshot: Snapshot, outcome: RequestOutcome) -> None:
        """Let all features follow an answer, once it is sent."""
        await asyncio.sleep(0)
        self._session.features.tell_all(lambda feature: feature.answered(snapshot, outcome))

    def report(self, uri: str, outcome: RequestOutcome) -> None:
        """Put an outcome into the status, and log and count why nothing was suggested."""
        if not outcome.ghosts:
            logger.info("no suggestion: %s", outcome.reason)
            self._recorder.count_reason(outcome.kind)
        self._session.status.request_answered(outcome.for_status(uri))

    async def suggest(self, snapshot: Snapshot, options: SuggestOptions) -> RequestOutcome:
        """Return suggestions for the snapshot's cursor, best first; our own errors are reasons."""
        try:
            is_replaced = self._next_edits.replaced_at(snapshot)
            if is_replaced or self._manners.is_word_accepted(snapshot):
                options = replace(options, shows_draft=False)
            outcome = await self._without_engine(snapshot, options)
            if isinstance(outcome, CachedSuggestions):
                # If the next key ends the request, the fill goes on while it fits the key.
                fill = UnfinishedFill(snapshot=snapshot)
                fill.task = asyncio.create_task(self._ask_engine(snapshot, options, outcome, fill))
                try:
                    await asyncio.wait({fill.task})
                except asyncio.CancelledError:
                    if options.num_candidates > 1:
                        fill.task.cancel()
                    else:
                        self._suggestions.unfinished.keep(fill)
                    raise
                outcome = fill.task.result()
            return outcome if options.shows_improbable else self._unasked(snapshot, outcome)
        except Exception as error:  # the one guard: no error may disturb typing
            logger.exception("a suggestion failed")
            return RequestOutcome(reason=f"an error in intarsia itself: {error!r}", is_failure=True)

    def _unasked(self, snapshot: Snapshot, outcome: RequestOutcome) -> RequestOutcome:
        """Return what is shown to a user who did not ask: neither what is improbable, nor what an
        edit at hand forbids."""
        outcome = outcome.unasked(percent_of(snapshot.settings.show_threshold))
        if not outcome.ghosts:
            return outcome
        text = outcome.ghosts[0].text
        if is_word_character(text[0]) and self._manners.is_word_accepted(snapshot):
            return outcome.refused(_LONGER_WORD)
        refusal = self._next_edits.goes_before(snapshot, text)
        return outcome if refusal is None else outcome.refused(refusal)

    async def _without_engine(
        self, snapshot: Snapshot, options: SuggestOptions
    ) -> RequestOutcome | CachedSuggestions:
        """Return the outcome of a request that the engine is not asked for; else, after a pause
        for the next key, what is known already."""
        uri, suggestions = snapshot.document.uri, self._suggestions
        wait_s = suggestions.debounce.seconds_to_wait(uri, options.debounce_ms)
        if snapshot.refusal is not None:
            return RequestOutcome().refused(snapshot.refusal)
        cached = suggestions.cache.lookup(snapshot)
        if cached.ahead_s is not None:
            suggestions.ahead.count_hit(cached.ahead_s)
        if known := await self._known(snapshot, options, cached):
            return known
        began = time.monotonic()
        if await suggestions.unfinished.finished(snapshot):
            cached = suggestions.cache.lookup(snapshot)
            if known := await self._known(snapshot, options, cached):
                return known
        wait_s -= time.monotonic() - began
        if wait_s > 0:
            if refusal := refusal_of_place(snapshot):
                return RequestOutcome().refused(refusal)
            if len(snapshot.text) <= MAX_CHARS_ON_LOOP:
                self._members.ask_early(snapshot)
            await asyncio.sleep(wait_s)
        return cached

    async def _known(
        self, snapshot: Snapshot, options: SuggestOptions, cached: CachedSuggestions
    ) -> RequestOutcome | None:
        """Return the outcome if the cache has all that is wanted."""
        if cached.reason is not None and options.num_candidates == 1 and not cached.ghosts:
            return RequestOutcome(reason=cached.reason, kind=cached.kind, is_cached=True)
        if cached.is_complete or len(cached.ghosts) >= options.num_candidates:
            ghosts = await self._keep_with_imports(snapshot, cached)
            return RequestOutcome(ghosts=ghosts[: options.num_candidates], is_cached=True)
        return None

    async def _ask_engine(
        self,
        snapshot: Snapshot,
        options: SuggestOptions,
        cached: CachedSuggestions,
        unfinished: UnfinishedFill,
    ) -> RequestOutcome:
        """Add to what is cached: the greedy fill, then alternatives, until there are enough.

        ``unfinished`` gets the beginning of the text that is settled.
        """
        settings, suggestions = snapshot.settings, self._suggestions
        await parse_if_long(snapshot.text, snapshot.offset, snapshot.language)
        if not snapshot.is_current(self._documents):
            return RequestOutcome(reason=_STALE, kind="outdated")
        plan = plan_suggestion(suggestions, snapshot)
        if isinstance(plan, NoSuggestion):
            return RequestOutcome().refused(plan)
        project = self._contexts.of(snapshot.document.uri)
        names = await self._members.allowed(snapshot)
        draft = ShownDraft(self._session, snapshot, plan, shows_all=options.shows_improbable)
        read = cache(lambda filled: draft.kept_in(read_ghost_text(plan, settings, filled)))
        ends_at = time.monotonic() + options.deadline_ms / 1000
        attempts = Attempts(read, options.num_candidates, cached.ghosts)
        for alternative in attempts:
            left_ms = round(1000 * (ends_at - time.monotonic()))
            if left_ms <= 0 or not snapshot.is_current(self._documents):
                attempts.take(None)
                break
            may_watch = plan.is_at_cursor and alternative == 0
            shows_draft = may_watch and options.shows_draft
            is_watched = shows_draft or (may_watch and options.num_candidates == 1)
            request = request_for(
                plan,
                settings,
                left_ms,
                alternative=alternative,
                is_watched=is_watched,
                project=project,
                names=names,
            )
            drafts = suggestions.drafts.of(snapshot, draft.of) if shows_draft else nullcontext()
            with drafts as show:
                on_step = partial(_on_step, unfinished, show) if is_watched else None
                filled = await self._session.engine.fill(request, on_step)
            if isinstance(filled, Filled):
                await read_text(snapshot.text, partial(read, filled))  # the loop reads it again
            attempts.take(filled)
        has_project = project is not None
        return await self._kept(snapshot, options, plan, attempts, has_project=has_project)

    async def _kept(
        self,
        snapshot: Snapshot,
        options: SuggestOptions,
        plan: FillPlan,
        attempts: Attempts[GhostText],
        *,
        has_project: bool,
    ) -> RequestOutcome:
        """Keep what the engine has answered, with its imports; return the request's outcome."""
        if snapshot.is_current(self._documents):
            attempts.passed = await with_imports(self._index, snapshot, attempts.passed)
        if self._session.settings_of(snapshot.document) != snapshot.settings:
            return RequestOutcome(reason=_OTHER_SETTINGS, kind="outdated", cost=attempts.cost)
        known, suggestions = None, self._suggestions
        if attempts.passed:
            is_complete = options.num_candidates > 1 and attempts.is_complete
            known = CachedSuggestions(ghosts=attempts.passed, is_complete=is_complete)
        elif attempts.is_complete and attempts.rejection and not attempts.is_cut_short:
            why = attempts.rejection
            known = CachedSuggestions(reason=why.reason, kind=why.kind)
        if known is not None:
            suggestions.cache.store(snapshot, known)
        if not snapshot.is_current(self._documents):
            return RequestOutcome(reason=_STALE, kind="outdated", cost=attempts.cost)
        is_short = is_first(suggestions, snapshot, plan)
        may_have_project = has_project or self._contexts.is_on(snapshot.settings)
        return _outcome(attempts, is_short=is_short, may_have_project=may_have_project)

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


def _on_step(unfinished: UnfinishedFill, show: Callable[[Step], None] | None, step: Step) -> None:
    settled = takewhile(lambda token: token.is_settled, step.tokens)
    unfinished.wrote("".join(token.text for token in settled))
    if show is not None:
        show(step)


def _outcome(
    attempts: Attempts[GhostText], *, is_short: bool, may_have_project: bool
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
