"""What an editor does with inline edits: asks for them, and applies a WorkspaceEdit to its text."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any

from lsprotocol import types
from pytest_lsp import LanguageClient

EDIT_COMMAND = "intarsia.edit"
_LINE_END = re.compile(r"\r\n|\n|\r")
UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


def lines(first: int, last: int) -> types.Range:
    """Return the range of whole lines, from the first up to the last, which is not in it."""
    return types.Range(types.Position(first, 0), types.Position(last, 0))


def cursor(line: int, character: int) -> types.Range:
    return types.Range(types.Position(line, character), types.Position(line, character))


async def code_actions(
    client: LanguageClient,
    uri: str,
    where: types.Range,
    *,
    only: Sequence[str] | None = None,
    is_automatic: bool = False,
) -> list[types.CodeAction | types.Command]:
    kind = types.CodeActionTriggerKind
    context = types.CodeActionContext(
        diagnostics=[], only=only, trigger_kind=kind.Automatic if is_automatic else kind.Invoked
    )
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), where, context)
    return list(await client.text_document_code_action_async(params) or [])


def edit_params(
    kind: str, uri: str, where: types.Range | None, *, version: int | None = 1, **others: Any
) -> types.ExecuteCommandParams:
    position = lambda at: {"line": at.line, "character": at.character}  # noqa: E731
    place = where and {"start": position(where.start), "end": position(where.end)}
    document = {"uri": uri, "version": version}
    argument = {"kind": kind, "textDocument": document, "range": place, **others}
    return types.ExecuteCommandParams(EDIT_COMMAND, [argument])


async def run_edit(
    client: LanguageClient, kind: str, uri: str, where: types.Range | None, **others: Any
) -> Mapping[str, Any]:
    params = edit_params(kind, uri, where, **others)
    answer = await client.workspace_execute_command_async(params)
    assert isinstance(answer, Mapping)
    return answer


def send_command(
    client: LanguageClient, params: types.ExecuteCommandParams, id: str
) -> "asyncio.Future[Any]":
    method = types.WORKSPACE_EXECUTE_COMMAND
    return asyncio.ensure_future(client.protocol.send_request_async(method, params, msg_id=id))


class Applied:
    """A client's side of ``workspace/applyEdit``: keeps what it is sent, and answers as told."""

    def __init__(
        self, client: LanguageClient, *, applied: bool = True, failure_reason: str | None = None
    ) -> None:
        self.params: list[types.ApplyWorkspaceEditParams] = []

        def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
            self.params.append(params)
            return types.ApplyWorkspaceEditResult(applied, failure_reason)

        client.feature(types.WORKSPACE_APPLY_EDIT)(apply)


def text_edits(edit: types.WorkspaceEdit) -> list[types.TextEdit]:
    """Return the edits of the only document, whatever shape they have."""
    if edit.document_changes is not None:
        (change,) = edit.document_changes
        assert isinstance(change, types.TextDocumentEdit)
        return [types.TextEdit(one.range, one.new_text) for one in change.edits]
    (edits,) = edit.changes.values()
    return list(edits)


def apply_edits(text: str, edits: Sequence[types.TextEdit], encoding: str = "utf-16") -> str:
    """Return the text with the edits made, as an editor makes them: the last one first."""
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def offset(at: types.Position) -> int:
        codec, size = UNITS[encoding]
        line = text[starts[at.line] :].encode(codec, "surrogatepass")[: at.character * size]
        return starts[at.line] + len(line.decode(codec, "surrogatepass"))

    spans = [(offset(edit.range.start), offset(edit.range.end), edit.new_text) for edit in edits]
    for start, end, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[end:]
    return text
