"""``textDocument/codeAction`` and its resolve: the inline edits, offered where they apply.

Comes in: a range; goes out: actions without an edit, which is worked out once one is chosen. A
client that cannot resolve actions gets them with the command instead.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import attrs
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from intarsia.lsp.documents.documents import Document
from intarsia.lsp.documents.eligibility import refusal
from intarsia.lsp.edits.edit_arguments import (
    EDIT_COMMAND,
    EditKind,
    edit_arguments,
    read_edit_arguments,
)
from intarsia.lsp.edits.make_edit import make_edit, tell_why
from intarsia.lsp.requests.prefetch import prefetch

if TYPE_CHECKING:
    from intarsia.lsp.server import IntarsiaServer
    from intarsia.lsp.session import Session

logger = logging.getLogger(__name__)

_KIND = "refactor.rewrite.intarsia"
KINDS: dict[EditKind, str] = {
    "fill": f"{_KIND}.fill",
    "fillAll": f"{_KIND}.fillAll",
    "rewrite": f"{_KIND}.rewrite",
}
OPTIONS = types.CodeActionOptions(code_action_kinds=list(KINDS.values()), resolve_provider=True)


@dataclass(frozen=True, slots=True)
class _Offer:
    """One edit that applies: of which kind the action is, and the command's arguments."""

    title: str
    kind: EditKind
    edit: EditKind
    where: types.Range | None


def code_action(
    ls: "IntarsiaServer", params: types.CodeActionParams
) -> Sequence[types.CodeAction | types.Command] | None:
    """Answer with the edits that apply to a range; with null and a reason where none may."""
    session, context = ls.session, params.context
    is_cursor = params.range.start == params.range.end
    if is_cursor and context.trigger_kind == types.CodeActionTriggerKind.Automatic:
        # A light bulb at every place of the cursor would say nothing; that it stands there does.
        prefetch(session, params.text_document.uri, params.range.start)
        return None
    wanted = [kind for kind, name in KINDS.items() if _is_wanted(name, context.only)]
    document = session.documents.current(params.text_document.uri)
    if document is None or not wanted:
        return None
    if refused := refusal(session.settings, document):
        logger.info("no edits: %s", refused.reason)
        return None
    offers = _offers(session, document, params.range, is_cursor=is_cursor)
    return [_action(ls, document, offer) for offer in offers if offer.kind in wanted]


async def resolve_code_action(ls: "IntarsiaServer", action: types.CodeAction) -> types.CodeAction:
    """Work the chosen edit out. Without one, the user is told why. Raises JsonRpcInvalidParams."""
    try:
        arguments = read_edit_arguments(action.data)
    except ValueError as error:
        raise JsonRpcInvalidParams(f"this code action is none of intarsia's: {error}") from error
    made = await make_edit(ls, arguments)
    if made.reason is not None:
        tell_why(ls, made, made.reason)
    return attrs.evolve(action, edit=made.edit)


def _is_wanted(kind: str, only: Sequence[str] | None) -> bool:
    """Whether the kind is one of those that the client asks for, or within one."""
    return not only or any(f"{kind}.".startswith(f"{one}.") for one in only if one) or "" in only


def _offers(
    session: "Session", document: Document, where: types.Range, *, is_cursor: bool
) -> Iterator[_Offer]:
    from intarsia.infill.holes.find_holes import holes_within
    from intarsia.lsp.edits.compute_edit import holes_of

    holes = holes_of(session.settings, document)
    start, end = document.offset_at(where.start), document.offset_at(where.end)
    if not is_cursor:
        yield _Offer("Fill the selection", "fill", "fill", where)
        if document.text[start:end].strip():
            yield _Offer("Rewrite the selection", "rewrite", "rewrite", where)
        if inside := holes_within(holes, start, end):
            yield _Offer(_all(len(inside), " in the selection"), "fillAll", "fillAll", where)
        return
    for hole in holes:
        place = types.Range(document.position_at(hole.start), document.position_at(hole.end))
        if place.start.line <= where.start.line <= place.end.line:
            yield _Offer("Fill this hole", "fill", "fillAll", place)
            if len(holes) == 1:
                return
    if holes:
        yield _Offer(_all(len(holes), ""), "fillAll", "fillAll", None)


def _all(num_holes: int, place: str) -> str:
    return f"Fill all {num_holes} holes{place}" if num_holes > 1 else f"Fill the one hole{place}"


def _action(
    ls: "IntarsiaServer", document: Document, offer: _Offer
) -> types.CodeAction | types.Command:
    arguments = edit_arguments(offer.edit, document.uri, document.version, offer.where)
    title = f"{offer.title} (intarsia)"
    text_document = ls.client_capabilities.text_document
    client = text_document.code_action if text_document is not None else None
    command = types.Command(title=title, command=EDIT_COMMAND, arguments=[arguments])
    if client is None or client.code_action_literal_support is None:
        return command
    can_resolve = _can_resolve(client)
    return types.CodeAction(
        title=title,
        kind=KINDS[offer.kind],
        data=arguments if can_resolve else None,
        command=None if can_resolve else command,
        tags=[types.CodeActionTag.LlmGenerated] if _shows_tag(client) else None,
    )


def _can_resolve(client: types.CodeActionClientCapabilities) -> bool:
    resolve = client.resolve_support
    return resolve is not None and "edit" in resolve.properties and bool(client.data_support)


def _shows_tag(client: types.CodeActionClientCapabilities) -> bool:
    tags = client.tag_support
    return tags is not None and types.CodeActionTag.LlmGenerated in tags.value_set
