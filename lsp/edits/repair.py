"""Looks for the repair of one place in one version of a document, and offers it as a quick fix.

When the document changes, the search stops.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from lsprotocol import types

from intarsia.engine.ipc.messages import Fill, Filled, ProjectContext, ScoreTexts, TextScores
from intarsia.infill.filling.plan import AskEngine, FindProject, OnStep, PlannedHole
from intarsia.infill.repair.find_repair import Asking, Repair, description_of, find_repair
from intarsia.infill.repair.proposals import find_proposals
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents import Document
from intarsia.lsp.edits.workspace_edit import shape_for, workspace_edit
from intarsia.lsp.project.project_contexts import ProjectContexts
from intarsia.lsp.protocol_extensions import EDIT_COMMAND, EDIT_KINDS, edit_arguments
from intarsia.lsp.repairs import ErrorRange
from intarsia.lsp.session import Session
from intarsia.lsp.snapshots import options_of, refusal_of

LIMIT_S = 15.0
"""After this time the search for a repair is given up, with a reason."""

STALE = NoSuggestion(reason="the document has changed: ask again")
TOO_SLOW = NoSuggestion(reason="the search for a repair took too long")

_T = TypeVar("_T")


async def compute_repair(
    session: Session, document: Document, start: int, end: int
) -> Repair | NoSuggestion:
    """Return the repair of the error at a range of a document, or why there is none."""
    if refusal := refusal_of(session, document):
        return refusal
    try:
        async with asyncio.timeout(LIMIT_S):
            return await _compute(session, document, start, end)
    except TimeoutError:
        return TOO_SLOW


async def _compute(
    session: Session, document: Document, start: int, end: int
) -> Repair | NoSuggestion:
    language = document.language
    found = await asyncio.to_thread(find_proposals, document.text, start, end, language)
    if isinstance(found, NoSuggestion):
        return found
    settings = session.settings_of(document)
    # A suggestion while typing goes first.
    options = options_of(settings, settings.invoked_deadline_ms, is_background=True)

    async def scores(request: ScoreTexts) -> TextScores | NoSuggestion:
        return await _while_current(session, document, session.engine.score_texts, request)

    find_project = await project_finder(session, document)
    fill = fill_while_current(session, document)
    asking = Asking(fill=fill, scores=scores, options=options, find_project=find_project)
    return await find_repair(asking, found)


def fill_while_current(session: Session, document: Document) -> AskEngine:
    """Return a function that asks the engine as long as the document does not change."""

    async def fill(request: Fill, on_step: OnStep | None = None) -> Filled | NoSuggestion:
        return await _while_current(session, document, session.engine.fill, request, on_step)

    return fill


async def _while_current(
    session: Session, document: Document, ask: Callable[..., Awaitable[_T]], *arguments: object
) -> _T | NoSuggestion:
    if session.documents.current(document.uri) is not document:
        return STALE
    answer = await ask(*arguments)
    return answer if session.documents.current(document.uri) is document else STALE


async def project_finder(session: Session, document: Document) -> FindProject:
    """Return what finds code of other files for this version, once their index is ready."""
    if session.in_force.folders:
        await session.feature(ProjectContexts).settled(document)

    async def find(planned: PlannedHole) -> ProjectContext | None:
        context = await session.feature(ProjectContexts).find(document, planned)
        return None if context is None else context.message

    return find


def repair_action(
    capabilities: types.ClientCapabilities, document: Document, error: ErrorRange, repair: Repair
) -> types.CodeAction | types.Command:
    """Return the quick fix, with its edit. It is not preferred: the model may be wrong."""
    title = title_of(document, error, repair)
    text_document = capabilities.text_document
    client = text_document.code_action if text_document is not None else None
    if client is None or client.code_action_literal_support is None:
        where = types.Range(document.position_at(error.start), document.position_at(error.end))
        arguments = edit_arguments("repair", document.uri, document.version, where)
        return types.Command(title=title, command=EDIT_COMMAND, arguments=[arguments])
    shape = shape_for(capabilities, needs_confirmation=False)
    return types.CodeAction(
        title=title,
        kind=EDIT_KINDS["repair"],
        diagnostics=list(error.diagnostics) or None,
        edit=workspace_edit(document, [repair.replacement], "Repair", shape),
    )


def title_of(document: Document, error: ErrorRange, repair: Repair) -> str:
    """Return what the repair does, and in which line where it is another than the error's."""
    start = repair.replacement.start
    line = document.position_at(start).line
    lines = document.position_at(error.start).line, document.position_at(error.end).line
    place = "" if lines[0] <= line <= lines[1] else f" in line {line + 1}"
    return f"Repair: {description_of(document.text, repair)}{place} (intarsia)"
