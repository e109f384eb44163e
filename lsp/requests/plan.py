"""Plans the fill of a suggestion for one snapshot, and reads the engine's answer as ghost text.

Needs the infill package's grammars, which the server loads on first use.
"""

import msgspec

from intarsia.engine.ipc.messages import Fill, Filled, ProjectContext, ProjectUse
from intarsia.infill.confidence import ConfidentToken
from intarsia.infill.filling.plan import FillPlan, plan_at_cursor
from intarsia.infill.postprocess.align_tokens import align
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.fill_options import language_of, options_of
from intarsia.lsp.session import Session
from intarsia.lsp.settings import Settings
from intarsia.lsp.suggestions.ghost_text import GhostText


def plan_suggestion(session: Session, snapshot: Snapshot) -> FillPlan | NoSuggestion:
    """Find the hole at the cursor and cut the text around it to the budget.

    The document's next plan keeps the edges of this one where it can.
    """
    plan = plan_ahead(session, snapshot)
    if not isinstance(plan, NoSuggestion):
        session.windows.remember(snapshot.document.uri, plan.canvas.window)
    return plan


def plan_ahead(session: Session, snapshot: Snapshot) -> FillPlan | NoSuggestion:
    """Plan a fill for a text that the document does not have yet; remember nothing."""
    options = options_of(session.settings, session.settings.deadline_ms)
    document = snapshot.document
    return plan_at_cursor(
        snapshot.text,
        snapshot.offset,
        language_of(document),
        options,
        session.windows.of(document.uri),
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


def ahead_request_for(
    plan: FillPlan,
    settings: Settings,
    *,
    alternative: int,
    project: ProjectContext | None,
    project_use: ProjectUse = "if_cached",
) -> Fill:
    """Return the message for a fill that the user does not wait for."""
    request = request_for(
        plan, settings, settings.deadline_ms, alternative=alternative, project=project
    )
    return msgspec.structs.replace(
        request, is_background=True, is_ahead=True, project_use=project_use
    )


def read_ghost_text(plan: FillPlan, filled: Filled) -> GhostText | NoSuggestion:
    """Clean the engine's text and place it at the cursor, in the model's tokens."""
    suggestion = plan.read_at_cursor(filled)
    if isinstance(suggestion, NoSuggestion):
        return suggestion
    written = [ConfidentToken(token.text, token.confidence) for token in filled.tokens]
    return GhostText(suggestion.text, align(written, suggestion.text))
