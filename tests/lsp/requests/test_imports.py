"""Suggestions bring the imports that they need: in the menu, as a command, and in edits."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from client_edits import Applied, apply_edits, run_edit, text_edits
from editor_clients import (
    ask_inline,
    change_document,
    editing,
    inline_items,
    neovim,
    open_document,
    vscode,
)
from engine_watch import until
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient
from rule_server import rule_server

from intarsia.engine.ipc.address import Address

FAST = {"debounceMs": 0, "deadlineMs": 60_000}
OTHER = "import numpy as np\nfrom models import Account\n\nprint(np, Account)\n"
MODELS = "class Account:\n    pass\n\n\nclass Ledger:\n    pass\n"
USE = '"""A file."""\n\nimport os\n\n\ndef f():\n    return \n\n\nprint(os)\n'
NEEDED = USE.replace("import os\n", "import os\n\nimport numpy as np\n")
CURSOR = (6, 11)


@asynccontextmanager
async def opened(
    folder: Path,
    runtime: Address,
    who: types.InitializeParams,
    fill: str = "np.zeros(3)",
    text: str = USE,
    **options: object,
) -> AsyncIterator[tuple[LanguageClient, str]]:
    """Open a file beside one that imports numpy."""
    (folder / "models.py").write_text(MODELS)
    (folder / "other.py").write_text(OTHER)
    (folder / "use.py").write_text(text)
    who.workspace_folders = [types.WorkspaceFolder(folder.as_uri(), folder.name)]
    server = rule_server(text=fill)
    async with editing(who, runtime, server=server, options={**FAST, **options}) as client:
        uri = (folder / "use.py").as_uri()
        open_document(client, uri, text)
        yield client, uri


async def item_with_command(client: LanguageClient, uri: str) -> types.InlineCompletionItem:
    """Ask until the index has answered: no suggestion waits for it."""
    found: list[types.InlineCompletionItem] = []

    async def has_command() -> bool:
        (item,) = await inline_items(client, ask_inline(uri, *CURSOR))
        found.append(item)
        return item.command is not None

    await until(has_command, 60)
    return found[-1]


async def run(client: LanguageClient, command: types.Command, **others: Any) -> Any:
    arguments = [{**(command.arguments or [{}])[0], **others}]
    return await client.workspace_execute_command_async(
        types.ExecuteCommandParams(command.command, arguments)
    )


async def test_ghost_text_has_a_command_that_adds_the_import_once_it_is_accepted(
    tmp_path: Path, runtime: Address
) -> None:
    async with opened(tmp_path, runtime, vscode()) as (client, uri):
        applied = Applied(client)
        item = await item_with_command(client, uri)
        assert item.insert_text == "np.zeros(3)"
        assert item.command is not None
        assert item.command.title == "Add import numpy as np"
        accepted = USE.replace("return ", "return np.zeros(3)")
        change_document(client, uri, accepted, 900)
        answer = await run(client, item.command)
        assert answer["applied"]
        (params,) = applied.params
        expected = NEEDED.replace("return ", "return np.zeros(3)")
        assert apply_edits(accepted, text_edits(params.edit)) == expected


async def test_the_edits_are_computed_for_the_text_as_it_is_now(
    tmp_path: Path, runtime: Address
) -> None:
    async with opened(tmp_path, runtime, vscode()) as (client, uri):
        item = await item_with_command(client, uri)
        assert item.command is not None
        change_document(client, uri, "# a new first line\n" + USE, 900)
        moved = await run(client, item.command, apply=False)
        assert moved["version"] == 900
        assert moved["edits"][0]["range"]["start"]["line"] == 5
        change_document(client, uri, NEEDED, 901)
        known = await run(client, item.command, apply=False)
        assert (known["version"], known["edits"]) == (901, [])


async def test_a_cached_suggestion_keeps_its_import(tmp_path: Path, runtime: Address) -> None:
    async with opened(tmp_path, runtime, vscode()) as (client, uri):
        item = await item_with_command(client, uri)
        typed = USE.replace("return ", "return n")
        change_document(client, uri, typed, 900)
        (rest,) = await inline_items(client, ask_inline(uri, 6, 12))
        assert rest.insert_text == "p.zeros(3)"
        assert rest.command is not None and item.command is not None
        assert rest.command.title == item.command.title


async def test_a_menu_item_brings_the_import_as_an_additional_edit(
    tmp_path: Path, runtime: Address
) -> None:
    async with opened(tmp_path, runtime, neovim()) as (client, uri):
        found: list[types.CompletionItem] = []

        async def has_edits() -> bool:
            params = types.CompletionParams(
                types.TextDocumentIdentifier(uri), types.Position(*CURSOR)
            )
            answer = await client.text_document_completion_async(params)
            assert isinstance(answer, types.CompletionList)
            found[:] = answer.items
            return found[0].additional_text_edits is not None

        await until(has_edits, 60)
        (item,) = found
        assert item.detail == "intarsia; import numpy as np"
        assert apply_edits(USE, list(item.additional_text_edits or ())) == NEEDED


HOSTILE = {
    "h0.js": """import { readConfig } from 'cfg"; require("child_process").exec("true"); "y';""",
    "h1.js": "const { readLine } = require('cfg\u2028evil()');",
    "h2.js": "import { 'any text; evil()' as readText } from 'cfg';",
    "h3.js": 'import { readBidi } from "left\u202epad";',
    "plain.js": "import { readPlain } from 'plain';",
}
MINE = "function mine() {\n  \n}\n"


@pytest.mark.parametrize("who", [neovim, vscode])
async def test_a_string_of_a_hostile_file_becomes_no_code(
    who: Callable[[], types.InitializeParams], tmp_path: Path, runtime: Address
) -> None:
    for name, text in HOSTILE.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "mine.js").write_text(MINE)
    uri, editor = (tmp_path / "mine.js").as_uri(), who()
    editor.workspace_folders = [types.WorkspaceFolder(tmp_path.as_uri(), tmp_path.name)]
    server = rule_server(text="use(readConfig, readLine, readText, readBidi, readPlain);")
    seen: list[str] = []
    async with editing(editor, runtime, server=server, options=FAST) as client:
        open_document(client, uri, MINE, "javascript")

        async def has_import() -> bool:
            if who is vscode:
                (ghost,) = await inline_items(client, ask_inline(uri, 1, 2))
                if ghost.command is None:
                    return False
                answer = await run(client, ghost.command, apply=False)
                seen[:] = [ghost.command.title, *(it["newText"] for it in answer["edits"])]
                return True
            params = types.CompletionParams(types.TextDocumentIdentifier(uri), types.Position(1, 2))
            answer = await client.text_document_completion_async(params)
            assert isinstance(answer, types.CompletionList)
            edits = answer.items[0].additional_text_edits or ()
            seen[:] = [answer.items[0].detail or "", *(it.new_text for it in edits)]
            return bool(edits)

        await until(has_import, 60)
    plain = 'import { readPlain } from "plain"'
    title = f"Add {plain}" if who is vscode else f"intarsia; {plain}"
    assert seen == [title, f"{plain}\n\n"]


async def test_an_inline_edit_brings_the_import_along(tmp_path: Path, runtime: Address) -> None:
    text = USE.replace("return ", "x = 1")
    async with opened(tmp_path, runtime, vscode(), fill="x = np.ones(1)", text=text) as (
        client,
        uri,
    ):
        applied = Applied(client)
        where = types.Range(types.Position(6, 4), types.Position(6, 9))

        async def is_complete() -> bool:
            answer = await run_edit(client, "fill", uri, where, version=None)
            assert (answer["applied"], answer["filled"]) == (True, 1)
            return len(text_edits(applied.params[-1].edit)) == 2

        await until(is_complete, 60)
        changed = apply_edits(text, text_edits(applied.params[-1].edit))
        assert changed == NEEDED.replace("return ", "x = np.ones(1)")


async def test_the_setting_switches_it_off(tmp_path: Path, runtime: Address) -> None:
    async with opened(tmp_path, runtime, vscode()) as (client, uri):
        await item_with_command(client, uri)
        client.set_configuration({**FAST, "addImports": False}, section="intarsia")
        client.workspace_did_change_configuration(types.DidChangeConfigurationParams({}))

        async def has_none() -> bool:
            (item,) = await inline_items(client, ask_inline(uri, *CURSOR))
            return item.command is None

        await until(has_none, 60)


async def test_a_client_that_applies_no_edits_gets_the_suggestion_alone(
    tmp_path: Path, runtime: Address
) -> None:
    who = vscode()
    assert who.capabilities.workspace is not None
    who.capabilities.workspace.apply_edit = False
    async with opened(tmp_path, runtime, who) as (client, uri):
        (item,) = await inline_items(client, ask_inline(uri, *CURSOR))
        assert (item.insert_text, item.command) == ("np.zeros(3)", None)


@pytest.mark.parametrize("argument", [{}, {"textDocument": {"uri": "a"}}, 7])
async def test_bad_arguments_are_refused(runtime: Address, argument: object) -> None:
    async with editing(vscode(), runtime, server=rule_server(text="x")) as client:
        with pytest.raises(JsonRpcException, match=r"intarsia\.addImports"):
            await client.workspace_execute_command_async(
                types.ExecuteCommandParams("intarsia.addImports", [argument])
            )
