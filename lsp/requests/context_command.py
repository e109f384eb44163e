"""``workspace/executeCommand`` with ``intarsia.context``: say what the model sees at a place."""

from typing import Any

import msgspec
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.long_texts import parse_if_long
from intarsia.lsp.documents.snapshot import take_snapshot
from intarsia.lsp.protocol_extensions import CONTEXT_COMMAND
from intarsia.lsp.server import IntarsiaServer


class _Position(msgspec.Struct, frozen=True):
    line: int
    character: int


class _Document(msgspec.Struct, frozen=True):
    uri: str


class _Arguments(msgspec.Struct, frozen=True, rename="camel"):
    text_document: _Document
    position: _Position


async def execute_context(ls: IntarsiaServer, params: types.ExecuteCommandParams) -> Any:
    """Answer with ``{"text": …}`` (docs/protocol.md). Raises JsonRpcInvalidParams."""
    arguments = _read_arguments(params)
    return {"text": await _text(ls, arguments)}


async def _text(ls: IntarsiaServer, arguments: _Arguments) -> str:
    """Return what the model sees, or one line that says why it sees nothing."""
    from intarsia.lsp.fill_options import language_of
    from intarsia.lsp.project.seen_text import seen_text
    from intarsia.lsp.requests.plan import plan_ahead

    session, uri = ls.session, arguments.text_document.uri
    place = arguments.position
    snapshot = take_snapshot(session.documents, uri, types.Position(place.line, place.character))
    if isinstance(snapshot, NoSuggestion):
        return f"the model sees nothing: {snapshot.reason}\n"
    if refusal := session.refusal(snapshot.document):
        return f"the model sees nothing: {refusal.reason}\n"
    await parse_if_long(snapshot.text, snapshot.offset, language_of(snapshot.document))
    plan = plan_ahead(session, snapshot)
    if isinstance(plan, NoSuggestion):
        return f"no suggestion at this place: {plan.reason}\n"
    context = session.projects.chosen(uri)
    file = context.path if context else (snapshot.document.disk_path or uri)
    return seen_text(plan, context, file=file, tokens_per_s=await session.engine.reading_speed())


def _read_arguments(params: types.ExecuteCommandParams) -> _Arguments:
    values = params.arguments or ()
    try:
        if len(values) != 1:
            raise ValueError(f"expected one argument, got {len(values)}")
        return msgspec.convert(values[0], _Arguments)
    except ValueError as error:  # msgspec's ValidationError is one
        raise JsonRpcInvalidParams(f"{CONTEXT_COMMAND}: {error}") from error
