"""Inline edits as code actions: where they are offered, in what shape, and what resolve gives."""

import ast
from collections.abc import Callable

import pytest
from client_edits import EDIT_COMMAND, apply_edits, code_actions, cursor, lines, text_edits
from editor_clients import (
    change_document,
    connected,
    editing,
    initialize,
    log_of,
    neovim,
    open_document,
    vscode,
)
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from rule_server import rule_server

from intarsia.engine.ipc.address import Address

INVALID_PARAMS = -32602
TEXT = "def one():\n    ...\n\n\ndef two():\n    ...\n"
FILLED = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
COMMAND = rule_server(
    rules=[("one():\n   ", "return 1"), ("two():\n   ", "return 2")], text="x = 1"
)
KIND = "refactor.rewrite.intarsia"
NEXT_EDIT = "quickfix.intarsia.nextEdit"


def kinds(actions: list[types.CodeAction | types.Command]) -> list[str]:
    """Return the kinds without what they have in common."""
    found = [action.kind for action in actions if isinstance(action, types.CodeAction)]
    assert len(found) == len(actions)
    return [str(kind).removeprefix(f"{KIND}.") for kind in found]


def without_resolve() -> types.InitializeParams:
    """An editor that takes code actions as they come."""
    who = neovim()
    assert who.capabilities.text_document and who.capabilities.text_document.code_action
    who.capabilities.text_document.code_action.resolve_support = None
    return who


def minimal() -> types.InitializeParams:
    """An editor that says nothing of itself."""
    return types.InitializeParams(capabilities=types.ClientCapabilities())


async def test_the_server_says_what_it_offers(runtime: Address) -> None:
    async with connected(runtime) as client:
        capabilities = (await initialize(client, vscode())).capabilities
        assert capabilities.code_action_provider == types.CodeActionOptions(
            code_action_kinds=(
                f"{KIND}.fill",
                f"{KIND}.fillAll",
                f"{KIND}.rewrite",
                "quickfix.intarsia.repair",
                NEXT_EDIT,
            ),
            resolve_provider=True,
        )
        assert capabilities.execute_command_provider == types.ExecuteCommandOptions(
            commands=(EDIT_COMMAND, "intarsia.context", "intarsia.addImports", "intarsia.nextEdit"),
            work_done_progress=True,
        )


@pytest.mark.parametrize(
    ("where", "is_automatic", "offered"),
    [
        (lines(0, 1), True, ["fill", "rewrite"]),  # no hole in it
        (lines(0, 3), False, ["fill", "rewrite", "fillAll"]),
        (lines(2, 3), False, ["fill"]),  # blank: nothing to rewrite
        (cursor(3, 0), False, ["fillAll"]),
        (cursor(1, 4), False, ["fill", "fillAll"]),  # in a hole
        (cursor(3, 0), True, []),
        (cursor(1, 4), True, []),
    ],
)
async def test_actions_are_offered_where_they_apply(
    runtime: Address, where: types.Range, is_automatic: bool, offered: list[str]
) -> None:
    async with editing(vscode(), runtime, server=COMMAND, options={"preload": False}) as client:
        uri = open_document(client, "a.py", TEXT)
        assert kinds(await code_actions(client, uri, where, is_automatic=is_automatic)) == offered


@pytest.mark.parametrize(
    ("only", "offered"),
    [
        ([""], ["fill", "rewrite", "fillAll"]),
        (["refactor"], ["fill", "rewrite", "fillAll"]),
        ([f"{KIND}.fill"], ["fill"]),
        (["source", f"{KIND}.rewrite"], ["rewrite"]),
        (["refactor.rew"], []),
        (["quickfix"], []),
    ],
)
async def test_a_client_gets_only_the_kinds_that_it_asks_for(
    runtime: Address, only: list[str], offered: list[str]
) -> None:
    async with editing(vscode(), runtime, server=COMMAND, options={"preload": False}) as client:
        uri = open_document(client, "a.py", TEXT)
        assert kinds(await code_actions(client, uri, lines(0, 6), only=only)) == offered


@pytest.mark.parametrize(
    ("place", "reason"),
    [("file:///home/me/.env", "excluded by the pattern"), ("git:/a.py", "not a file on disk")],
)
async def test_a_refused_document_gets_none_and_the_log_says_why(
    runtime: Address, place: str, reason: str
) -> None:
    async with editing(vscode(), runtime, server=COMMAND, options={"preload": False}) as client:
        uri = open_document(client, place, TEXT)
        assert await code_actions(client, uri, lines(0, 3)) == []
        assert reason in log_of(client)


async def test_holes_in_a_fence_of_a_disabled_language_are_not_filled(runtime: Address) -> None:
    text = f"```python\n{TEXT}```\n\n```go\nfunc f() {{\n\t// TODO: x\n}}\n```\n"
    for disabled in ([], ["python"], ["go"], ["go", "python"]):
        options = {"preload": False, "disabledLanguages": disabled}
        async with editing(vscode(), runtime, server=COMMAND, options=options) as client:
            uri = open_document(client, "a.md", text, "markdown")
            actions = await code_actions(client, uri, lines(0, 99), only=[f"{KIND}.fillAll"])
            num_holes = 2 * ("python" not in disabled) + ("go" not in disabled)
            count = f"all {num_holes} holes" if num_holes > 1 else "the one hole"
            offered = [f"Fill {count} in the selection (intarsia)"] if num_holes else []
            assert [action.title for action in actions] == offered


async def test_a_selection_in_a_fence_of_a_disabled_language_is_not_filled(
    runtime: Address,
) -> None:
    options = {"preload": False, "disabledLanguages": ["python"]}
    async with editing(vscode(), runtime, server=COMMAND, options=options) as client:
        uri = open_document(client, "a.md", f"```python\n{TEXT}```\n", "markdown")
        (action,) = await code_actions(client, uri, lines(2, 3), only=[f"{KIND}.fill"])
        assert isinstance(action, types.CodeAction)
        resolved = await client.code_action_resolve_async(action)
        assert resolved.edit is None
        assert "disabledLanguages, also in Markdown" in log_of(client)


async def test_a_document_that_is_not_open_gets_none(runtime: Address) -> None:
    async with editing(vscode(), runtime, server=COMMAND, options={"preload": False}) as client:
        assert await code_actions(client, "file:///none.py", lines(0, 3)) == []


async def test_the_models_work_is_tagged_where_the_client_knows_the_tag(runtime: Address) -> None:
    who = vscode()
    assert who.capabilities.text_document and who.capabilities.text_document.code_action
    who.capabilities.text_document.code_action.tag_support = types.CodeActionTagOptions(
        [types.CodeActionTag.LlmGenerated]
    )
    for client_is, tags in ((who, [types.CodeActionTag.LlmGenerated]), (vscode(), None)):
        options = {"preload": False}
        async with editing(client_is, runtime, server=COMMAND, options=options) as client:
            uri = open_document(client, "a.py", TEXT)
            for action in await code_actions(client, uri, lines(0, 3)):
                assert isinstance(action, types.CodeAction)
                assert (action.tags and list(action.tags)) == tags


@pytest.mark.parametrize("who", [vscode, neovim])
async def test_a_chosen_action_is_worked_out_and_touches_nothing_but_the_holes(
    runtime: Address, who: Callable[[], types.InitializeParams]
) -> None:
    async with editing(who(), runtime, server=COMMAND) as client:
        uri = open_document(client, "a.py", TEXT)
        (action,) = await code_actions(client, uri, cursor(3, 0))
        assert isinstance(action, types.CodeAction)
        assert (action.edit, action.command) == (None, None)
        resolved = await client.code_action_resolve_async(action)
        assert resolved.edit is not None
        assert apply_edits(TEXT, text_edits(resolved.edit)) == FILLED


async def test_this_hole_alone_is_filled_from_the_cursor_in_it(runtime: Address) -> None:
    async with editing(vscode(), runtime, server=COMMAND) as client:
        uri = open_document(client, "a.py", TEXT)
        this, _ = await code_actions(client, uri, cursor(5, 4))
        assert isinstance(this, types.CodeAction)
        resolved = await client.code_action_resolve_async(this)
        assert resolved.edit is not None
        assert apply_edits(TEXT, text_edits(resolved.edit)) == TEXT[:-4] + "return 2\n"


@pytest.mark.parametrize("is_previewed", [True, False])
async def test_an_edit_has_version_and_annotation_where_the_client_can(
    runtime: Address, is_previewed: bool
) -> None:
    options = {"previewEdits": is_previewed}
    async with editing(vscode(), runtime, server=COMMAND, options=options) as client:
        uri = open_document(client, "a.py", TEXT)
        (action,) = await code_actions(client, uri, cursor(3, 0))
        assert isinstance(action, types.CodeAction)
        edit = (await client.code_action_resolve_async(action)).edit
        assert edit is not None and edit.changes is None and edit.document_changes is not None
        (change,) = edit.document_changes
        assert isinstance(change, types.TextDocumentEdit)
        assert change.text_document.version == 1
        ((name, annotation),) = (edit.change_annotations or {}).items()
        assert annotation.needs_confirmation is is_previewed
        assert all(
            isinstance(one, types.AnnotatedTextEdit) and one.annotation_id == name
            for one in change.edits
        )


async def test_a_client_without_versioned_edits_gets_plain_ones(runtime: Address) -> None:
    async with editing(neovim(), runtime, server=COMMAND) as client:
        uri = open_document(client, "a.py", TEXT)
        (action,) = await code_actions(client, uri, cursor(3, 0))
        assert isinstance(action, types.CodeAction)
        edit = (await client.code_action_resolve_async(action)).edit
        assert edit is not None and edit.document_changes is None and edit.changes is not None
        assert list(edit.changes) == [uri]


async def test_a_client_that_cannot_resolve_gets_the_command(runtime: Address) -> None:
    options = {"preload": False}
    async with editing(without_resolve(), runtime, server=COMMAND, options=options) as client:
        uri = open_document(client, "a.py", TEXT)
        (action,) = await code_actions(client, uri, cursor(3, 0))
        # What the client's library makes of it: it takes any object with a command for a Command.
        assert isinstance(action, types.Command)
        command = ast.literal_eval(action.command)
        assert command["command"] == EDIT_COMMAND
        answer = await client.workspace_execute_command_async(
            types.ExecuteCommandParams(EDIT_COMMAND, command["arguments"])
        )
        assert answer["filled"] == 2


async def test_a_client_without_code_action_literals_gets_commands(runtime: Address) -> None:
    async with editing(minimal(), runtime, server=COMMAND, options={"preload": False}) as client:
        uri = open_document(client, "a.py", TEXT)
        actions = await code_actions(client, uri, lines(0, 3))
        assert [type(action) for action in actions] == [types.Command] * 3


async def test_an_action_of_an_older_text_is_refused_and_the_user_is_told(
    runtime: Address,
) -> None:
    async with editing(vscode(), runtime, server=COMMAND) as client:
        uri = open_document(client, "a.py", TEXT)
        (action,) = await code_actions(client, uri, cursor(3, 0))
        assert isinstance(action, types.CodeAction)
        change_document(client, uri, "x = 1\n" + TEXT, 2)
        resolved = await client.code_action_resolve_async(action)
        assert resolved.edit is None
        assert [one.message for one in client.messages] == [
            "intarsia: the document has changed: ask again"
        ]


async def test_an_action_of_somebody_else_is_refused(runtime: Address) -> None:
    async with editing(vscode(), runtime, server=COMMAND, options={"preload": False}) as client:
        for data in (None, {"kind": "fill"}, [1], {"id": 7}):
            with pytest.raises(JsonRpcException) as raised:
                await client.code_action_resolve_async(types.CodeAction("theirs", data=data))
            assert raised.value.code == INVALID_PARAMS
            assert "not one of intarsia's" in raised.value.message
