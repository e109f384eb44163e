"""Plans the fill of a suggestion for one snapshot, and reads the engine's answer as ghost text.

Needs the infill package's grammars, which the server loads on first use.
"""

from collections.abc import Callable
from dataclasses import replace

import msgspec

from intarsia.engine.ipc.messages import Fill, Filled, ProjectContext, Step
from intarsia.infill.calibration.threshold import percent_of
from intarsia.infill.canvas.canvas import Budget
from intarsia.infill.canvas.window import MOST_KEPT, Unread, budget_chars, unread_chars
from intarsia.infill.filling.judged import has_sure_start, judge, may_hide
from intarsia.infill.filling.plan import FillPlan, plan_at_cursor
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.may_suggest import fence_ineligibility
from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.fill_options import language_of, options_of
from intarsia.lsp.session import Session
from intarsia.lsp.settings import Settings
from intarsia.lsp.suggestions.ghost_text import GhostText

FIRST_BUDGET = {"prefix_tokens": 500, "suffix_tokens": 150}
"""What is read at most for the first answer at a new place; the rest is read in idle time."""


def plan_suggestion(session: Session, snapshot: Snapshot) -> FillPlan | NoSuggestion:
    """Find the hole at the cursor and cut the text around it to what is read for this answer.

    The document's next plan keeps the edges of this one where it can.
    """
    plan, is_whole = _plan(session, snapshot)
    if not isinstance(plan, NoSuggestion):
        windows = session.windows if is_whole else session.first_windows
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
    options = options_of(session.settings, session.settings.deadline_ms)
    document, text, offset = snapshot.document, snapshot.text, snapshot.offset
    language = language_of(document)
    disabled = session.settings_of(document).disabled_languages
    if refusal := fence_ineligibility(disabled, text, offset, offset, language):
        return refusal
    return plan_at_cursor(text, offset, language, options, session.windows.of(document.uri))


def is_first(session: Session, snapshot: Snapshot, plan: FillPlan) -> bool:
    """Whether a plan of ``plan_suggestion`` reads less than the settings allow."""
    return plan.canvas.window not in session.windows.of(snapshot.document.uri)


def is_nearly_read(session: Session, uri: str, whole: FillPlan) -> bool:
    """Whether a whole window is short, is nearly read, or would not be read in idle time."""
    if not session.uses_idle_time():
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
        session.windows.of(uri),
    )


def _plan_first(session: Session, snapshot: Snapshot, whole: FillPlan) -> FillPlan | NoSuggestion:
    """Plan a fill that reads little: all of the prefix only if nearly all of that is read."""
    options = options_of(session.settings, session.settings.deadline_ms)
    uri, budget = snapshot.document.uri, _first_budget(options.budget)
    earlier = session.first_windows.of(uri)
    unread = _unread(session, uri, whole)
    if unread is not None and unread.prefix_chars <= budget_chars(budget.prefix_tokens):
        budget = replace(budget, prefix_tokens=options.budget.prefix_tokens)
        earlier = (*session.windows.of(uri), *earlier)
    return plan_at_cursor(
        snapshot.text,
        snapshot.offset,
        language_of(snapshot.document),
        replace(options, budget=budget),
        earlier,
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


def draft_filter(
    session: Session, snapshot: Snapshot, *, shows_all: bool
) -> Callable[[Step], bool]:
    """Return whether a draft is shown, as a function of its next step.

    Unless the user asked, the draft of a text that may be hidden waits for a sure start. Otherwise
    it would flash.
    """
    settings = session.settings_of(snapshot.document)
    percent = 0 if shows_all else percent_of(settings.show_threshold)
    has_begun = False

    def may_show(step: Step) -> bool:
        nonlocal has_begun
        model = session.status.model
        has_begun = (
            has_begun
            or not may_hide(model, settings.decoding, percent)
            or has_sure_start(step.tokens)
        )
        return has_begun

    return may_show
