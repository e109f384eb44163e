"""Plans the fill of a suggestion for one snapshot, and reads the engine's answer as ghost text.

Needs the infill package's grammars, which the server loads on first use.
"""

from dataclasses import replace

import msgspec

from intarsia.engine.ipc.messages import CanvasToken, Fill, Filled, ProjectContext, Step
from intarsia.infill.calibration import percent_of
from intarsia.infill.canvas.canvas import Budget
from intarsia.infill.canvas.window import MOST_KEPT, Unread, budget_chars, unread_chars
from intarsia.infill.confidence import ConfidentToken, without_start
from intarsia.infill.filling.judged import certain_beginning, judge, may_hide
from intarsia.infill.filling.plan import FillPlan, plan_at_cursor
from intarsia.infill.holes.hole import refusal_of_hole
from intarsia.infill.postprocess.align_tokens import align
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.lines import newline_of
from intarsia.lsp.documents.long_texts import MAX_CHARS_ON_LOOP
from intarsia.lsp.documents.may_suggest import fence_ineligibility
from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.fill_options import language_of, options_of
from intarsia.lsp.machine import Strain
from intarsia.lsp.session import Session
from intarsia.lsp.settings import Settings
from intarsia.lsp.suggestion_state import Suggestions
from intarsia.lsp.suggestions.ghost_text import GhostText

FIRST_BUDGET = {"prefix_tokens": 500, "suffix_tokens": 150}
"""What is read at most for the first answer at a new place; the rest is read in idle time."""


def plan_suggestion(session: Session, snapshot: Snapshot) -> FillPlan | NoSuggestion:
    """Find the hole at the cursor and cut the text around it to what is read for this answer.

    The document's next plan keeps the edges of this one where it can.
    """
    plan, is_whole = _plan(session, snapshot)
    if not isinstance(plan, NoSuggestion):
        windows = (
            session.feature(Suggestions).windows
            if is_whole
            else session.feature(Suggestions).first_windows
        )
        windows.remember(snapshot.document.uri, plan.canvas.window)
    return plan


def plan_ahead(session: Session, snapshot: Snapshot) -> FillPlan | NoSuggestion:
    """Plan a fill as for a request, for a text that the document may have next; forget it."""
    return _plan(session, snapshot)[0]


def _plan(session: Session, snapshot: Snapshot) -> tuple[FillPlan | NoSuggestion, bool]:
    """Return the plan, and whether it reads all that the settings allow."""
    whole = plan_whole(session, snapshot)
    if isinstance(whole, NoSuggestion) or is_nearly_read(session, snapshot.document.uri, whole):
        return whole, True
    return _plan_first(session, snapshot, whole), False


def plan_whole(session: Session, snapshot: Snapshot) -> FillPlan | NoSuggestion:
    """Plan a fill with all that the settings allow to be read."""
    if refusal := _refusal_of_fence(session, snapshot):
        return refusal
    return plan_at_cursor(
        snapshot.text,
        snapshot.offset,
        language_of(snapshot.document),
        options_of(session.settings, session.settings.deadline_ms),
        session.feature(Suggestions).windows.of(snapshot.document.uri),
        is_word_whole=snapshot.selected is not None,
    )


def refusal_of_place(session: Session, snapshot: Snapshot) -> NoSuggestion | None:
    """Return why nothing will be planned at the cursor, None where a fill is."""
    if refusal := _refusal_of_fence(session, snapshot):
        return refusal
    return refusal_of_hole(snapshot.text, snapshot.offset)


def _refusal_of_fence(session: Session, snapshot: Snapshot) -> NoSuggestion | None:
    document, offset = snapshot.document, snapshot.offset
    disabled = session.settings_of(document).disabled_languages
    return fence_ineligibility(disabled, snapshot.text, offset, offset, language_of(document))


def is_first(session: Session, snapshot: Snapshot, plan: FillPlan) -> bool:
    """Whether a plan of ``plan_suggestion`` reads less than the settings allow."""
    return plan.canvas.window not in session.feature(Suggestions).windows.of(snapshot.document.uri)


def is_nearly_read(session: Session, uri: str, whole: FillPlan) -> bool:
    """Whether a whole window is short, is nearly read, or would not be read in idle time."""
    if not session.feature(Strain).allows_idle_work(session.settings):
        return True
    canvas = whole.canvas
    first = _first_budget(options_of(session.settings, 0).budget)
    if len(canvas.prefix) <= budget_chars(first.prefix_tokens) and len(
        canvas.suffix
    ) <= MOST_KEPT * budget_chars(first.suffix_tokens):
        return True
    unread = _unread(session, uri, whole)
    if unread is None or unread.suffix_chars > MOST_KEPT * budget_chars(first.suffix_tokens):
        return False
    most = budget_chars(first.prefix_tokens + first.suffix_tokens)
    return unread.prefix_chars + unread.suffix_chars <= most


def _unread(session: Session, uri: str, whole: FillPlan) -> Unread | None:
    return unread_chars(
        whole.text,
        whole.hole.given_start,
        whole.canvas.window.suffix,
        session.settings.max_prefix_tokens,
        session.feature(Suggestions).windows.of(uri),
    )


def _plan_first(session: Session, snapshot: Snapshot, whole: FillPlan) -> FillPlan | NoSuggestion:
    """Plan a fill that reads little: all of the prefix only if nearly all of that is read."""
    options = options_of(session.settings, session.settings.deadline_ms)
    uri, budget = snapshot.document.uri, _first_budget(options.budget)
    earlier = session.feature(Suggestions).first_windows.of(uri)
    unread = _unread(session, uri, whole)
    if unread is not None and unread.prefix_chars <= budget_chars(budget.prefix_tokens):
        budget = replace(budget, prefix_tokens=options.budget.prefix_tokens)
        earlier = (*session.feature(Suggestions).windows.of(uri), *earlier)
    return plan_at_cursor(
        snapshot.text,
        snapshot.offset,
        language_of(snapshot.document),
        replace(options, budget=budget),
        earlier,
        is_word_whole=snapshot.selected is not None,
    )


def _first_budget(budget: Budget) -> Budget:
    return replace(
        budget,
        prefix_tokens=min(budget.prefix_tokens, FIRST_BUDGET["prefix_tokens"]),
        suffix_tokens=min(budget.suffix_tokens, FIRST_BUDGET["suffix_tokens"]),
    )


def request_for(
    plan: FillPlan,
    settings: Settings,
    deadline_ms: int,
    *,
    alternative: int = 0,
    is_watched: bool = False,
    project: ProjectContext | None = None,
) -> Fill:
    """Return the message for the engine; alternative 0 is the greedy fill."""
    options = options_of(settings, deadline_ms)
    request = plan.request(options, alternative=alternative, is_watched=is_watched)
    return msgspec.structs.replace(request, project=project)


def read_ghost_text(plan: FillPlan, settings: Settings, filled: Filled) -> GhostText | NoSuggestion:
    """Clean the engine's text, place it at the cursor, and judge how much is shown unasked."""
    suggestion = plan.read_at_cursor(filled)
    if isinstance(suggestion, NoSuggestion):
        return suggestion
    percent = percent_of(settings.show_threshold)
    judged = judge(plan, filled, suggestion, settings.decoding, percent)
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
        self._settings = session.settings_of(snapshot.document)
        self._plan = plan
        self._percent = 0 if shows_all else percent_of(self._settings.show_threshold)
        self._kept: tuple[ConfidentToken, ...] = ()

    def of(self, step: Step) -> Step | None:
        """Return a step as it is shown: what is kept as settled, all else as guesses."""
        model = self._session.status.model
        if not may_hide(model, self._settings.decoding, self._percent):
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
