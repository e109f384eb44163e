"""``textDocument/codeAction`` and ``codeAction/resolve``: offer the inline edits where they apply.

An action's edit is computed when the user chooses it. A client that cannot resolve actions gets
the command ``intarsia.edit`` instead. LSP has no message for the cursor, but editors with a light
bulb request actions wherever it rests: so the context there is read in idle time.
"""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import attrs
import msgspec
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from intarsia.infill.holes.find_holes import holes_within
from intarsia.infill.holes.hole import MarkedHole
from intarsia.infill.repair.error_places import error_on_lines
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents import Document
from intarsia.lsp.edits.compute_edit import holes_of
from intarsia.lsp.edits.make_edit import make_edit, show_reason
from intarsia.lsp.edits.offered_edit import next_edit_actions, rename_action
from intarsia.lsp.edits.repair import compute_repair, repair_action
from intarsia.lsp.manners import Strain
from intarsia.lsp.next_edits.next_edits import NextEdits
from intarsia.lsp.project.project_contexts import ProjectContexts
from intarsia.lsp.protocol_extensions import (
    EDIT_COMMAND,
    EDIT_KINDS,
    NEXT_EDIT_KIND,
    EditArguments,
    EditKind,
    edit_arguments,
)
from intarsia.lsp.repairs import REST_S, ErrorRange, Repairs, reported_error
from intarsia.lsp.server import IntarsiaServer
from intarsia.lsp.session import Session
from intarsia.lsp.snapshots import parse_if_long, read_text, refusal_of, snapshot_of
from intarsia.lsp.suggestions import Suggestions, plan_ahead

logger = logging.getLogger(__name__)

_LINE_END = 2**31 - 1
"""A character after the end of any line; LSP clamps it."""


@dataclass(frozen=True, slots=True)
class _Offer:
    """One edit that applies: the action's title and kind, and the command's arguments."""

    title: str
    kind: EditKind
    edit: EditKind
    where: types.Range | None


async def code_action(
    ls: IntarsiaServer, params: types.CodeActionParams
) -> Sequence[types.CodeAction | types.Command] | None:
    """Answer with the edits that apply to a range, or with null."""
    session, context = ls.session, params.context
    is_cursor = params.range.start == params.range.end
    is_automatic = context.trigger_kind == types.CodeActionTriggerKind.Automatic
    next_edits = [
        *_next_edits(ls, params, is_automatic=is_automatic),
        *await _repairs(ls, params, is_automatic=is_automatic),
    ]
    if is_cursor and is_automatic:
        # A light bulb at every position would be noise, but the position itself is news.
        session.feature(NextEdits).cursor_moved(params.text_document.uri, params.range.start.line)
        await prefetch(session, params.text_document.uri, params.range.start)
        return next_edits or None
    requested = [kind for kind, name in EDIT_KINDS.items() if _is_requested(name, context.only)]
    document = session.documents.current(params.text_document.uri)
    if document is None or not requested:
        return next_edits or None
    if refusal := refusal_of(session, document):
        logger.info("no edits: %s", refusal.reason)
        return None
    holes = await _holes_of(session, document)
    offers = _offers(document, holes, params.range, is_cursor=is_cursor)
    actions = [_action(ls, document, offer) for offer in offers if offer.kind in requested]
    return [*next_edits, *actions]


def _next_edits(
    ls: IntarsiaServer, params: types.CodeActionParams, *, is_automatic: bool
) -> Iterator[types.CodeAction | types.Command]:
    """Yield the next edits that are offered in the document, if the client requests them."""
    next_edits = ls.session.feature(NextEdits)
    document = ls.session.documents.current(params.text_document.uri)
    if document is None or not _is_requested(NEXT_EDIT_KIND, params.context.only):
        return
    offers, left = next_edits.offers_of(document.uri), next_edits.elsewhere_in(document.uri)
    rename = None if left is None else next_edits.rename_in(document)
    if left is not None and rename is not None:
        lines = [document.position_at(it).line for it in rename.starts]
        is_here = any(params.range.start.line <= it <= params.range.end.line for it in lines)
        if is_here or not is_automatic:
            yield rename_action(ls.client_capabilities, document, rename, left)
    yield from next_edit_actions(
        ls.client_capabilities, document, offers, params.range, is_automatic=is_automatic
    )


async def _repairs(
    ls: IntarsiaServer, params: types.CodeActionParams, *, is_automatic: bool
) -> Sequence[types.CodeAction | types.Command]:
    """Return the repair of an error on the lines of a range, if it is known or found soon.

    The light bulb gets what is known. Else it has the repair looked for in idle time.
    """
    session = ls.session
    document = session.documents.current(params.text_document.uri)
    if document is None or not _is_requested(EDIT_KINDS["repair"], params.context.only):
        return ()
    if document.is_cell or refusal_of(session, document):
        return ()
    error = await _error_at(document, params, is_automatic=is_automatic)
    if error is None:
        return ()
    repairs, compute = session.feature(Repairs), partial(compute_repair, session)
    if not is_automatic:
        repair = await repairs.wait(document, error, compute)
    else:
        repair = repairs.known(document, error)
        if (
            repair is None
            and session.feature(Strain).allows_idle_work(session.settings)
            and session.engine.can_fill_ahead
        ):
            repairs.look(document, error, compute, after_s=REST_S)
    if repair is None or session.documents.current(document.uri) is not document:
        return ()
    return (repair_action(ls.client_capabilities, document, error, repair),)


async def _error_at(
    document: Document, params: types.CodeActionParams, *, is_automatic: bool
) -> ErrorRange | None:
    """Return the error that the client reports there, else the parser, where the user asks."""
    where = params.range
    reported = reported_error(document, where, params.context.diagnostics)
    if reported is not None or is_automatic:
        return reported
    start, end = document.offset_at(where.start), document.offset_at(where.end)
    language = document.language
    found = await asyncio.to_thread(error_on_lines, document.text, start, end, language)
    return None if found is None else ErrorRange(start=found, end=found)


async def resolve_code_action(ls: IntarsiaServer, action: types.CodeAction) -> types.CodeAction:
    """Compute the chosen edit, and show the user what could not be filled.

    Raises JsonRpcInvalidParams where the action is not one of ours.
    """
    if action.kind in (NEXT_EDIT_KIND, EDIT_KINDS["repair"]):
        return action  # it has its edit; some clients resolve every action
    try:
        arguments = msgspec.convert(action.data, EditArguments)
    except ValueError as error:  # msgspec's ValidationError is one
        raise JsonRpcInvalidParams(f"this code action is not one of intarsia's: {error}") from error
    result = await make_edit(ls, arguments)
    if result.reason is not None:
        show_reason(ls, result, result.reason)
    return attrs.evolve(action, edit=result.edit)


def _is_requested(kind: str, only: Sequence[str] | None) -> bool:
    """Whether the client requests the kind, or one that contains it."""
    return not only or "" in only or any(f"{kind}.".startswith(f"{parent}.") for parent in only)


async def _holes_of(session: Session, document: Document) -> Sequence[MarkedHole]:
    return await read_text(
        document.text, partial(holes_of, session.settings_of(document), document)
    )


def _offers(
    document: Document, holes: Sequence[MarkedHole], where: types.Range, *, is_cursor: bool
) -> Iterator[_Offer]:
    start, end = document.offset_at(where.start), document.offset_at(where.end)
    if not is_cursor:
        yield _Offer("Fill the selection", "fill", "fill", where)
        if document.text[start:end].strip():
            yield _Offer("Rewrite the selection", "rewrite", "rewrite", where)
        if inside := holes_within(holes, start, end):
            yield _Offer(_all(len(inside), " in the selection"), "fillAll", "fillAll", where)
        return
    line_start = document.offset_at(types.Position(where.start.line, 0))
    line_end = document.offset_at(types.Position(where.start.line, _LINE_END))
    for hole in holes:
        if hole.start <= line_end and line_start <= hole.end:
            place = types.Range(document.position_at(hole.start), document.position_at(hole.end))
            yield _Offer("Fill this hole", "fill", "fillAll", place)
            if len(holes) == 1:
                return
    if holes:
        yield _Offer(_all(len(holes), ""), "fillAll", "fillAll", None)


def _all(num_holes: int, place: str) -> str:
    return f"Fill all {num_holes} holes{place}" if num_holes > 1 else f"Fill the one hole{place}"


def _action(
    ls: IntarsiaServer, document: Document, offer: _Offer
) -> types.CodeAction | types.Command:
    arguments = edit_arguments(offer.edit, document.uri, document.version, offer.where)
    title = f"{offer.title} (intarsia)"
    text_document = ls.client_capabilities.text_document
    client = text_document.code_action if text_document is not None else None
    command = types.Command(title=title, command=EDIT_COMMAND, arguments=[arguments])
    if client is None or client.code_action_literal_support is None:
        return command
    resolve, tags = client.resolve_support, client.tag_support
    can_resolve = resolve is not None and "edit" in resolve.properties and bool(client.data_support)
    has_tag = tags is not None and types.CodeActionTag.LlmGenerated in tags.value_set
    return types.CodeAction(
        title=title,
        kind=EDIT_KINDS[offer.kind],
        data=arguments if can_resolve else None,
        command=None if can_resolve else command,
        tags=[types.CodeActionTag.LlmGenerated] if has_tag else None,
    )


async def prefetch(session: Session, uri: str, position: types.Position) -> None:
    """Ask the engine to read what a request at a position would send; log errors.

    Only edited documents are read ahead, so that reading code costs nothing.
    """
    try:
        await _prefetch(session, uri, position)
    except Exception:  # the user did not request it
        logger.exception("reading ahead failed")


async def _prefetch(session: Session, uri: str, position: types.Position) -> None:
    document = session.documents.current(uri)
    if document is None or not document.is_edited or not session.settings.prefetch:
        return
    snapshot = snapshot_of(session, document, position)
    if session.settings_requests.is_open or snapshot.refusal:
        return
    await parse_if_long(snapshot.text, snapshot.offset, snapshot.language)
    if not snapshot.is_current(session.documents):
        return
    plan = plan_ahead(session.feature(Suggestions), snapshot)
    if isinstance(plan, NoSuggestion):
        return
    fill = plan.request(snapshot.options)
    session.engine.prefetch_hole(fill, session.feature(ProjectContexts).of(uri))
