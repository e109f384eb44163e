"""Plans the fill of a suggestion for one snapshot, and reads the engine's answer as ghost text.

Needs the infill package's grammars, which the server loads on first use.
"""

from dataclasses import replace
from typing import Any

import msgspec

from intarsia.engine.ipc.messages import CanvasToken, Fill, Filled, Step
from intarsia.infill.calibration import percent_of
from intarsia.infill.canvas import MOST_KEPT, budget_chars, unread_chars
from intarsia.infill.filling.judged import align, certain_beginning, judge, may_hide
from intarsia.infill.filling.plan import FillPlan, plan_at_cursor
from intarsia.infill.holes.hole import refusal_of_hole
from intarsia.infill.suggestion import ConfidentToken, NoSuggestion, without_start
from intarsia.infill.syntax.text import newline_of
from intarsia.lsp.documents.documents import Snapshot
from intarsia.lsp.documents.eligibility import fence_ineligibility, options_of
from intarsia.lsp.ghost_text import GhostText
from intarsia.lsp.session import Session
from intarsia.lsp.settings import Settings
from intarsia.lsp.snapshots import MAX_CHARS_ON_LOOP
from intarsia.lsp.suggestions import Suggestions

FIRST_BUDGET = {"prefix_tokens": 500, "suffix_tokens": 150}
"""What is read at most for the first answer at a new place; the rest is read in idle time."""


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
    """What of a suggestion is shown while it settles, and so is kept in its answer.

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
