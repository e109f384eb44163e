"""Repairs as quick fixes: offered where an error is, only if they parse and are likelier."""

import pytest
from client_edits import Applied, apply_edits, cursor, run_edit, text_edits
from editor_clients import neovim, page
from lsprotocol import types
from rule_server import rule_server

from intarsia.engine.ipc.address import Address

BROKEN = "def f(a, b:\n    return a\n"
WHOLE = "def f(a, b):\n    return a\n"
KIND = "quickfix.intarsia.repair"
QUIET = {"options": {"preload": False}}
COMMAND = {"server": rule_server(likely=[WHOLE.splitlines()[0]], text="a"), **QUIET}
NEVER = {"likely": ["never written"], "text": "a", **QUIET}
MAX_REQUESTS = 20


def diagnostic(where, severity=types.DiagnosticSeverity.Error) -> types.Diagnostic:
    return types.Diagnostic(range=where, message="'(' was not closed", severity=severity)


async def fixes(user, where, *diagnostics, is_automatic=False):
    kind = types.CodeActionTriggerKind
    context = types.CodeActionContext(
        diagnostics=list(diagnostics),
        only=["quickfix"],
        trigger_kind=kind.Automatic if is_automatic else kind.Invoked,
    )
    params = types.CodeActionParams(types.TextDocumentIdentifier(user.uri), where, context)
    return list(await user.client.text_document_code_action_async(params) or [])


async def found(user, where, *diagnostics) -> types.CodeAction | types.Command:
    """Return the only fix; a request waits for it a while, and the next one finds it."""
    for _ in range(MAX_REQUESTS):
        if actions := await fixes(user, where, *diagnostics):
            (action,) = actions
            return action
    raise AssertionError(f"no fix: {user.log}")


async def test_an_error_that_the_client_reports_is_repaired(runtime: Address):
    async with page(runtime, BROKEN, **COMMAND) as user:
        reported = diagnostic(types.Range(types.Position(0, 5), types.Position(0, 6)))
        action = await found(user, cursor(0, 3), reported)
        assert isinstance(action, types.CodeAction)
        assert action.title == 'Repair: insert ")" (intarsia)'
        assert action.kind == KIND and not action.is_preferred
        assert list(action.diagnostics or ()) == [reported]
        assert action.edit is not None and action.edit.document_changes is not None
        assert action.edit.document_changes[0].text_document.version == 1
        assert apply_edits(BROKEN, text_edits(action.edit)) == WHOLE


async def test_an_error_that_only_the_parser_finds_is_repaired_where_the_user_asks(runtime):
    async with page(runtime, f"x = 1\n\n\n{BROKEN}", who=neovim(), **COMMAND) as user:
        assert await fixes(user, cursor(3, 3), is_automatic=True) == []
        assert await fixes(user, cursor(0, 3)) == []
        action = await found(user, cursor(3, 3))
        assert action.title == 'Repair: insert ")" (intarsia)'


async def test_the_light_bulb_gets_what_is_known_of_this_version(runtime: Address):
    async with page(runtime, BROKEN, **COMMAND) as user:
        reported = diagnostic(cursor(0, 11))
        assert await fixes(user, cursor(0, 3), reported, is_automatic=True) == []
        await found(user, cursor(0, 3), reported)
        assert len(await fixes(user, cursor(0, 3), reported, is_automatic=True)) == 1
        user.change(BROKEN + "\n")
        assert await fixes(user, cursor(0, 3), reported, is_automatic=True) == []


@pytest.mark.parametrize(
    ("likely", "reason"),
    [
        (["never written"], "no repair: no edit that parses is likelier"),
        (None, "this model cannot score texts"),
    ],
)
async def test_where_nothing_is_offered_the_log_says_why(runtime, likely, reason):
    async with page(runtime, BROKEN, likely=likely, text="a", **QUIET) as user:
        for _ in range(MAX_REQUESTS):  # until it is known
            assert await fixes(user, cursor(0, 3)) == []
            if reason in user.log:
                return
        raise AssertionError(f"the log does not tell why: {user.log}")


@pytest.mark.parametrize(
    "severity", [types.DiagnosticSeverity.Warning, types.DiagnosticSeverity.Hint]
)
async def test_a_warning_in_code_that_parses_is_not_repaired(runtime, severity):
    async with page(runtime, WHOLE, **COMMAND) as user:
        assert await fixes(user, cursor(0, 3), diagnostic(cursor(0, 3), severity)) == []


NAME = types.Range(types.Position(1, 6), types.Position(1, 12))


@pytest.mark.parametrize(
    ("text", "where", "likely", "title", "repaired"),
    [
        (
            "length = 1\nprint(lenght)\n",
            NAME,
            "print(length)",
            'replace "lenght" by "length"',
            "length = 1\nprint(length)\n",
        ),
        (  # a repair in another line says which
            "f(1\n\n\ndef g():\n    pass\n",
            cursor(3, 0),
            "f(1)",
            'insert ")" in line 1',
            "f(1)\n\n\ndef g():\n    pass\n",
        ),
    ],
)
async def test_the_title_says_what_is_repaired_and_where(
    runtime, text, where, likely, title, repaired
):
    async with page(runtime, text, likely=[likely], text="1", **QUIET) as user:
        action = await found(user, where, diagnostic(where))
        assert isinstance(action, types.CodeAction) and action.edit is not None
        assert action.title == f"Repair: {title} (intarsia)"
        assert apply_edits(text, text_edits(action.edit)) == repaired


async def test_the_command_applies_the_repair_of_a_client_without_literals(runtime: Address):
    workspace = types.WorkspaceClientCapabilities(apply_edit=True)
    who = types.InitializeParams(capabilities=types.ClientCapabilities(workspace=workspace))
    async with page(runtime, BROKEN, who=who, **COMMAND) as user:
        applied = Applied(user.client)
        command = await found(user, cursor(0, 3))
        assert isinstance(command, types.Command) and command.arguments
        params = types.ExecuteCommandParams(command.command, command.arguments)
        await user.client.workspace_execute_command_async(params)
        (edit,) = applied.params
        assert apply_edits(BROKEN, text_edits(edit.edit)) == WHOLE


async def test_the_command_says_plainly_that_there_is_none(runtime: Address):
    async with page(runtime, BROKEN, **NEVER) as user:
        answer = await run_edit(user.client, "repair", user.uri, cursor(0, 3), apply=False)
        assert answer["edit"] is None
        assert answer["reason"] == "no edit that parses is likelier than the present text"
