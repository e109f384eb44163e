"""Repairs as quick fixes: offered where an error is, only if they parse and are likelier."""

from collections.abc import Sequence
from typing import Any

import pytest
from client_edits import Applied, apply_edits, cursor, run_edit, text_edits
from editor_clients import change_document, editing, log_of, neovim, open_document, vscode
from lsprotocol import types
from pytest_lsp import LanguageClient
from rule_server import rule_server

from intarsia.engine.ipc.address import Address

BROKEN = "def f(a, b:\n    return a\n"
WHOLE = "def f(a, b):\n    return a\n"
KIND = "quickfix.intarsia.repair"
COMMAND = rule_server(likely=[WHOLE.splitlines()[0]], text="a")
OPTIONS: dict[str, Any] = {"preload": False}
MAX_REQUESTS = 20


def diagnostic(
    where: types.Range, severity: types.DiagnosticSeverity = types.DiagnosticSeverity.Error
) -> types.Diagnostic:
    return types.Diagnostic(range=where, message="'(' was not closed", severity=severity)


async def fixes(
    client: LanguageClient,
    uri: str,
    where: types.Range,
    diagnostics: Sequence[types.Diagnostic] = (),
    *,
    is_automatic: bool = False,
) -> list[types.CodeAction | types.Command]:
    kind = types.CodeActionTriggerKind
    context = types.CodeActionContext(
        diagnostics=list(diagnostics),
        only=["quickfix"],
        trigger_kind=kind.Automatic if is_automatic else kind.Invoked,
    )
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), where, context)
    return list(await client.text_document_code_action_async(params) or [])


async def found(
    client: LanguageClient,
    uri: str,
    where: types.Range,
    diagnostics: Sequence[types.Diagnostic] = (),
) -> types.CodeAction | types.Command:
    """Return the only fix; a request waits for it a while, and the next one finds it."""
    for _ in range(MAX_REQUESTS):
        if actions := await fixes(client, uri, where, diagnostics):
            (action,) = actions
            return action
    raise AssertionError(f"no fix: {log_of(client)}")


async def refused(client: LanguageClient, uri: str, where: types.Range, reason: str) -> None:
    """Ask until the log tells why there is no fix."""
    for _ in range(MAX_REQUESTS):
        assert await fixes(client, uri, where) == []
        if reason in log_of(client):
            return
    raise AssertionError(f"the log does not tell why: {log_of(client)}")


async def test_an_error_that_the_client_reports_is_repaired(runtime: Address):
    async with editing(vscode(), runtime, server=COMMAND, options=OPTIONS) as client:
        uri = open_document(client, "a.py", BROKEN)
        reported = diagnostic(types.Range(types.Position(0, 5), types.Position(0, 6)))
        action = await found(client, uri, cursor(0, 3), [reported])
        assert isinstance(action, types.CodeAction)
        assert action.title == 'Repair: insert ")" (intarsia)'
        assert action.kind == KIND and not action.is_preferred
        assert action.diagnostics == (reported,) or action.diagnostics == [reported]
        assert action.edit is not None and action.edit.document_changes is not None
        assert action.edit.document_changes[0].text_document.version == 1
        assert apply_edits(BROKEN, text_edits(action.edit)) == WHOLE


async def test_an_error_that_only_the_parser_finds_is_repaired_where_the_user_asks(
    runtime: Address,
):
    async with editing(neovim(), runtime, server=COMMAND, options=OPTIONS) as client:
        uri = open_document(client, "a.py", f"x = 1\n\n\n{BROKEN}")
        assert await fixes(client, uri, cursor(3, 3), is_automatic=True) == []
        assert await fixes(client, uri, cursor(0, 3)) == []
        action = await found(client, uri, cursor(3, 3))
        assert action.title == 'Repair: insert ")" (intarsia)'


async def test_the_light_bulb_gets_what_is_known_of_this_version(runtime: Address):
    async with editing(vscode(), runtime, server=COMMAND, options=OPTIONS) as client:
        uri = open_document(client, "a.py", BROKEN)
        reported = [diagnostic(cursor(0, 11))]
        assert await fixes(client, uri, cursor(0, 3), reported, is_automatic=True) == []
        await found(client, uri, cursor(0, 3), reported)
        assert len(await fixes(client, uri, cursor(0, 3), reported, is_automatic=True)) == 1
        change_document(client, uri, BROKEN + "\n", version=2)
        assert await fixes(client, uri, cursor(0, 3), reported, is_automatic=True) == []


async def test_nothing_is_offered_that_is_not_likelier(runtime: Address):
    server = rule_server(likely=["never written"], text="a")
    async with editing(vscode(), runtime, server=server, options=OPTIONS) as client:
        uri = open_document(client, "a.py", BROKEN)
        await refused(client, uri, cursor(0, 3), "no repair: no edit that parses is likelier")


async def test_nothing_is_offered_by_a_model_that_cannot_tell(runtime: Address):
    server = rule_server(text="a")
    async with editing(vscode(), runtime, server=server, options=OPTIONS) as client:
        uri = open_document(client, "a.py", BROKEN)
        await refused(client, uri, cursor(0, 3), "this model cannot score texts")


@pytest.mark.parametrize(
    "severity",
    [types.DiagnosticSeverity.Warning, types.DiagnosticSeverity.Hint],
)
async def test_a_warning_in_code_that_parses_is_not_repaired(
    runtime: Address, severity: types.DiagnosticSeverity
):
    async with editing(vscode(), runtime, server=COMMAND, options=OPTIONS) as client:
        uri = open_document(client, "a.py", WHOLE)
        reported = diagnostic(cursor(0, 3), severity)
        assert await fixes(client, uri, cursor(0, 3), [reported]) == []


async def test_an_undefined_name_becomes_the_name_that_it_resembles(runtime: Address):
    text = "length = 1\nprint(lenght)\n"
    server = rule_server(likely=["print(length)"], text="1")
    async with editing(vscode(), runtime, server=server, options=OPTIONS) as client:
        uri = open_document(client, "a.py", text)
        where = types.Range(types.Position(1, 6), types.Position(1, 12))
        action = await found(client, uri, where, [diagnostic(where)])
        assert isinstance(action, types.CodeAction) and action.edit is not None
        assert action.title == 'Repair: replace "lenght" by "length" (intarsia)'
        assert apply_edits(text, text_edits(action.edit)) == "length = 1\nprint(length)\n"


async def test_a_repair_in_another_line_says_which(runtime: Address):
    text = "f(1\n\n\ndef g():\n    pass\n"
    server = rule_server(likely=["f(1)"], text="1")
    async with editing(vscode(), runtime, server=server, options=OPTIONS) as client:
        uri = open_document(client, "a.py", text)
        action = await found(client, uri, cursor(3, 0), [diagnostic(cursor(3, 0))])
        assert action.title == 'Repair: insert ")" in line 1 (intarsia)'


async def test_the_command_applies_the_repair_of_a_client_without_literals(runtime: Address):
    who = types.InitializeParams(
        capabilities=types.ClientCapabilities(
            workspace=types.WorkspaceClientCapabilities(apply_edit=True)
        )
    )
    async with editing(who, runtime, server=COMMAND, options=OPTIONS) as client:
        applied = Applied(client)
        uri = open_document(client, "a.py", BROKEN)
        command = await found(client, uri, cursor(0, 3))
        assert isinstance(command, types.Command) and command.arguments
        params = types.ExecuteCommandParams(command.command, command.arguments)
        await client.workspace_execute_command_async(params)
        (edit,) = applied.params
        assert apply_edits(BROKEN, text_edits(edit.edit)) == WHOLE


async def test_the_command_says_plainly_that_there_is_none(runtime: Address):
    server = rule_server(likely=["never written"], text="a")
    async with editing(vscode(), runtime, server=server, options=OPTIONS) as client:
        uri = open_document(client, "a.py", BROKEN)
        answer = await run_edit(client, "repair", uri, cursor(0, 3), apply=False)
        assert answer["edit"] is None
        assert answer["reason"] == "no edit that parses is likelier than the text that is there"
