"""Inline edits as code actions: where they are offered, in what shape, and what resolve gives."""

import ast

import pytest
from client_edits import EDIT_COMMAND, apply_edits, code_actions, cursor, lines, text_edits
from editor_clients import Page, neovim, page, vscode
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
QUIET = {"server": COMMAND, "options": {"preload": False}}


def kinds(actions: list[types.CodeAction | types.Command]) -> list[str]:
    """Return the kinds without what they have in common."""
    found = [action.kind for action in actions if isinstance(action, types.CodeAction)]
    assert len(found) == len(actions)
    return [str(kind).removeprefix(f"{KIND}.") for kind in found]


async def resolved(user: Page, where: types.Range) -> types.CodeAction:
    """Return the first action there, worked out."""
    action = (await code_actions(user.client, user.uri, where))[0]
    assert isinstance(action, types.CodeAction)
    assert (action.edit, action.command) == (None, None)
    return await user.client.code_action_resolve_async(action)


@pytest.mark.parametrize(
    ("where", "is_automatic", "only", "offered"),
    [
        (lines(0, 1), True, None, ["fill", "rewrite"]),  # no hole in it
        (lines(0, 3), False, None, ["fill", "rewrite", "fillAll"]),
        (lines(2, 3), False, None, ["fill"]),  # blank: nothing to rewrite
        (cursor(3, 0), False, None, ["fillAll"]),
        (cursor(1, 4), False, None, ["fill", "fillAll"]),  # in a hole
        (cursor(3, 0), True, None, []),
        (cursor(1, 4), True, None, []),
        (lines(0, 6), False, [""], ["fill", "rewrite", "fillAll"]),
        (lines(0, 6), False, ["refactor"], ["fill", "rewrite", "fillAll"]),
        (lines(0, 6), False, [f"{KIND}.fill"], ["fill"]),
        (lines(0, 6), False, ["source", f"{KIND}.rewrite"], ["rewrite"]),
        (lines(0, 6), False, ["refactor.rew"], []),
        (lines(0, 6), False, ["quickfix"], []),
    ],
)
async def test_actions_are_offered_where_they_apply_of_the_kinds_that_are_asked_for(
    runtime, where, is_automatic, only, offered
):
    async with page(runtime, TEXT, **QUIET) as user:
        found = await code_actions(
            user.client, user.uri, where, only=only, is_automatic=is_automatic
        )
        assert kinds(found) == offered


async def test_a_refused_document_gets_none_and_the_log_says_why(runtime: Address) -> None:
    async with page(runtime, TEXT, name="file:///home/me/.env", **QUIET) as user:
        assert await code_actions(user.client, user.uri, lines(0, 3)) == []
        assert "excluded by the pattern" in user.log
        assert await code_actions(user.client, "file:///none.py", lines(0, 3)) == []


def markdown(*disabled: str) -> dict[str, object]:
    options = {"preload": False, "disabledLanguages": disabled}
    return {"name": "a.md", "language": "markdown", "server": COMMAND, "options": options}


@pytest.mark.parametrize("disabled", [[], ["python"], ["go"], ["go", "python"]])
async def test_holes_in_a_fence_of_a_disabled_language_are_not_filled(runtime, disabled):
    text = f"```python\n{TEXT}```\n\n```go\nfunc f() {{\n\t// TODO: x\n}}\n```\n"
    async with page(runtime, text, **markdown(*disabled)) as user:
        actions = await code_actions(user.client, user.uri, lines(0, 99), only=[f"{KIND}.fillAll"])
        num_holes = 2 * ("python" not in disabled) + ("go" not in disabled)
        count = f"all {num_holes} holes" if num_holes > 1 else "the one hole"
        offered = [f"Fill {count} in the selection (intarsia)"] if num_holes else []
        assert [action.title for action in actions] == offered


async def test_a_selection_in_a_fence_of_a_disabled_language_is_not_filled(runtime):
    async with page(runtime, f"```python\n{TEXT}```\n", **markdown("python")) as user:
        assert (await resolved(user, lines(2, 3))).edit is None
        assert "disabledLanguages, also in markdown" in user.log


@pytest.mark.parametrize("tags", [None, [types.CodeActionTag.LlmGenerated]])
async def test_the_models_work_is_tagged_where_the_client_knows_the_tag(runtime, tags):
    who = vscode()
    assert who.capabilities.text_document and who.capabilities.text_document.code_action
    support = tags and types.CodeActionTagOptions(tags)
    who.capabilities.text_document.code_action.tag_support = support
    async with page(runtime, TEXT, who=who, **QUIET) as user:
        for action in await code_actions(user.client, user.uri, lines(0, 3)):
            assert isinstance(action, types.CodeAction)
            assert (action.tags and list(action.tags)) == tags


@pytest.mark.parametrize("who", [vscode, neovim])
@pytest.mark.parametrize(
    ("where", "expected"), [(cursor(3, 0), FILLED), (cursor(5, 4), TEXT[:-4] + "return 2\n")]
)
async def test_a_chosen_action_is_worked_out_and_touches_nothing_but_the_holes(
    runtime, who, where, expected
):
    async with page(runtime, TEXT, who=who(), server=COMMAND) as user:
        edit = (await resolved(user, where)).edit
        assert edit is not None
        assert apply_edits(TEXT, text_edits(edit)) == expected
        if who is neovim:  # a client without versioned edits gets plain ones
            assert edit.document_changes is None and list(edit.changes or ()) == [user.uri]


@pytest.mark.parametrize("is_previewed", [True, False])
async def test_an_edit_has_version_and_annotation_where_the_client_can(runtime, is_previewed):
    options = {"previewEdits": is_previewed}
    async with page(runtime, TEXT, server=COMMAND, options=options) as user:
        edit = (await resolved(user, cursor(3, 0))).edit
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


async def test_a_client_that_cannot_resolve_gets_the_command(runtime: Address) -> None:
    who = neovim()
    assert who.capabilities.text_document and who.capabilities.text_document.code_action
    who.capabilities.text_document.code_action.resolve_support = None
    async with page(runtime, TEXT, who=who, **QUIET) as user:
        (action,) = await code_actions(user.client, user.uri, cursor(3, 0))
        # What the client's library makes of it: it takes any object with a command for a Command.
        assert isinstance(action, types.Command)
        command = ast.literal_eval(action.command)
        assert command["command"] == EDIT_COMMAND
        answer = await user.client.workspace_execute_command_async(
            types.ExecuteCommandParams(EDIT_COMMAND, command["arguments"])
        )
        assert answer["filled"] == 2


async def test_a_client_without_code_action_literals_gets_commands(runtime: Address) -> None:
    who = types.InitializeParams(capabilities=types.ClientCapabilities())
    async with page(runtime, TEXT, who=who, **QUIET) as user:
        actions = await code_actions(user.client, user.uri, lines(0, 3))
        assert [type(action) for action in actions] == [types.Command] * 3


async def test_an_action_of_an_older_text_is_refused_and_the_user_is_told(runtime):
    async with page(runtime, TEXT, server=COMMAND) as user:
        (action,) = await code_actions(user.client, user.uri, cursor(3, 0))
        assert isinstance(action, types.CodeAction)
        user.change("x = 1\n" + TEXT)
        assert (await user.client.code_action_resolve_async(action)).edit is None
        (told,) = user.client.messages
        assert told.message == "intarsia: the document has changed: ask again"


@pytest.mark.parametrize("data", [None, {"kind": "fill"}, [1], {"id": 7}])
async def test_an_action_of_somebody_else_is_refused(runtime: Address, data: object) -> None:
    async with page(runtime, TEXT, **QUIET) as user:
        with pytest.raises(JsonRpcException, match="not one of intarsia's") as raised:
            await user.client.code_action_resolve_async(types.CodeAction("theirs", data=data))
        assert raised.value.code == INVALID_PARAMS
