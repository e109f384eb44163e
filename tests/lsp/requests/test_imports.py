"""Suggestions bring the imports that they need: in the menu, as a command, and in edits."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import pytest
from client_edits import Applied, apply_edits, run_edit, text_edits
from editor_clients import Page, neovim, page, vscode
from engine_watch import until
from lsprotocol import types

from intarsia.engine.ipc.address import Address

T = TypeVar("T")
FAST = {"debounceMs": 0, "deadlineMs": 60_000}
OTHER = "import numpy as np\nfrom models import Account\n\nprint(np, Account)\n"
MODELS = "class Account:\n    pass\n\n\nclass Ledger:\n    pass\n"
USE = '"""A file."""\n\nimport os\n\n\ndef f():\n    return \n\n\nprint(os)\n'
NEEDED = USE.replace("import os\n", "import os\n\nimport numpy as np\n")
CURSOR = (6, 11)


@asynccontextmanager
async def opened(
    folder,
    runtime,
    who=None,
    fill="np.zeros(3)",
    text=USE,
    name="use.py",
    language="python",
    models=MODELS,
):
    """Open a file beside one that imports numpy."""
    (folder / "models.py").write_text(models)
    (folder / "other.py").write_text(OTHER)
    (folder / name).write_text(text)
    who = who or vscode()
    who.workspace_folders = [types.WorkspaceFolder(folder.as_uri(), folder.name)]
    how = {"name": (folder / name).as_uri(), "language": language, "options": FAST}
    async with page(runtime, text, who=who, text=fill, **how) as user:
        yield user


async def once(seen: Callable[[], Awaitable[T | None]]) -> T:
    """Ask until the index has answered: no suggestion waits for it."""
    found: list[T] = []

    async def is_there() -> bool:
        one = await seen()
        found.extend(() if one is None else (one,))
        return bool(found)

    await until(is_there, 60)
    return found[0]


async def import_of(user: Page, place: tuple[int, int] = CURSOR) -> types.Command:
    """Return the command that comes with a suggestion once the index has answered."""

    async def command() -> types.Command | None:
        (item,) = await user.items(*place)
        return item.command

    return await once(command)


async def run(user: Page, command: types.Command, **others: Any) -> Any:
    arguments = [{**(command.arguments or [{}])[0], **others}]
    return await user.client.workspace_execute_command_async(
        types.ExecuteCommandParams(command.command, arguments)
    )


async def test_ghost_text_has_a_command_that_adds_the_import_once_it_is_accepted(tmp_path, runtime):
    async with opened(tmp_path, runtime) as user:
        applied = Applied(user.client)
        command = await import_of(user)
        assert await user.shown(*CURSOR) == ["np.zeros(3)"]
        assert command.title == "Add import numpy as np"
        accepted = USE.replace("return ", "return np.zeros(3)")
        user.change(accepted)
        assert (await run(user, command))["applied"]
        (params,) = applied.params
        expected = NEEDED.replace("return ", "return np.zeros(3)")
        assert apply_edits(accepted, text_edits(params.edit)) == expected


async def test_the_edits_are_computed_for_the_text_as_it_is_now(tmp_path, runtime):
    async with opened(tmp_path, runtime) as user:
        command = await import_of(user)
        user.change("# a new first line\n" + USE)
        moved = await run(user, command, apply=False)
        assert (moved["version"], moved["edits"][0]["range"]["start"]["line"]) == (2, 5)
        user.change(NEEDED)
        known = await run(user, command, apply=False)
        assert (known["version"], known["edits"]) == (3, [])


async def test_a_cached_suggestion_keeps_its_import(tmp_path: Path, runtime: Address) -> None:
    async with opened(tmp_path, runtime) as user:
        command = await import_of(user)
        user.change(USE.replace("return ", "return n"))
        (rest,) = await user.items(6, 12)
        assert rest.insert_text == "p.zeros(3)"
        assert rest.command is not None and rest.command.title == command.title


async def menu_edits(user: Page, place: tuple[int, int]) -> tuple[str, Sequence[types.TextEdit]]:
    """Return what the menu's item says beside its name, and its edits, once it has some."""

    async def edits() -> tuple[str, Sequence[types.TextEdit]] | None:
        (item,) = (await user.menu(*place)).items
        found = item.additional_text_edits
        return (str(item.detail), found) if found else None

    return await once(edits)


async def test_a_menu_item_brings_the_import_as_an_additional_edit(tmp_path, runtime):
    async with opened(tmp_path, runtime, neovim()) as user:
        detail, edits = await menu_edits(user, CURSOR)
        assert detail == "intarsia; import numpy as np"
        assert apply_edits(USE, list(edits)) == NEEDED


HOSTILE = {
    "h0.js": """import { readConfig } from 'cfg"; require("child_process").exec("true"); "y';""",
    "h1.js": "const { readLine } = require('cfg\u2028evil()');",
    "h2.js": "import { 'any text; evil()' as readText } from 'cfg';",
    "h3.js": 'import { readBidi } from "left\u202epad";',
    "plain.js": "import { readPlain } from 'plain';",
}
MINE = "function mine() {\n  \n}\n"


@pytest.mark.parametrize("who", [neovim, vscode])
async def test_a_string_of_a_hostile_file_becomes_no_code(who, tmp_path, runtime):
    for name, text in HOSTILE.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    mine = {"text": MINE, "name": "mine.js", "language": "javascript"}
    fill = "use(readConfig, readLine, readText, readBidi, readPlain);"
    plain = 'import { readPlain } from "plain"'
    async with opened(tmp_path, runtime, who(), fill, **mine) as user:
        if who is vscode:
            command = await import_of(user, (1, 2))
            assert command.title == f"Add {plain}"
            edits = (await run(user, command, apply=False))["edits"]
            assert [it["newText"] for it in edits] == [f"{plain}\n\n"]
        else:
            detail, menu = await menu_edits(user, (1, 2))
            assert detail == f"intarsia; {plain}"
            assert [it.new_text for it in menu] == [f"{plain}\n\n"]


async def test_an_inline_edit_brings_the_import_along(tmp_path: Path, runtime: Address) -> None:
    text = USE.replace("return ", "x = 1")
    async with opened(tmp_path, runtime, fill="x = np.ones(1)", text=text) as user:
        applied = Applied(user.client)
        where = types.Range(types.Position(6, 4), types.Position(6, 9))

        async def is_complete() -> bool:
            answer = await run_edit(user.client, "fill", user.uri, where, version=None)
            assert (answer["applied"], answer["filled"]) == (True, 1)
            return len(text_edits(applied.params[-1].edit)) == 2

        await until(is_complete, 60)
        changed = apply_edits(text, text_edits(applied.params[-1].edit))
        assert changed == NEEDED.replace("return ", "x = np.ones(1)")


async def test_the_setting_switches_it_off(tmp_path: Path, runtime: Address) -> None:
    async with opened(tmp_path, runtime) as user:
        await import_of(user)
        user.client.set_configuration({**FAST, "addImports": False}, section="intarsia")
        user.client.workspace_did_change_configuration(types.DidChangeConfigurationParams({}))

        async def has_none() -> bool:
            (item,) = await user.items(*CURSOR)
            return item.command is None

        await until(has_none, 60)


async def test_a_client_that_applies_no_edits_gets_the_suggestion_alone(tmp_path, runtime):
    who = vscode()
    who.capabilities.workspace.apply_edit = False
    async with opened(tmp_path, runtime, who) as user:
        (item,) = await user.items(*CURSOR)
        assert (item.insert_text, item.command) == ("np.zeros(3)", None)


MEMBERS = """\
from models import Shop


def f(shop: Shop):
    # of shop.
    return shop.op


def g(shop):
    return shop.op
"""


async def test_after_a_dot_the_model_must_write_a_member_of_the_type(tmp_path, runtime):
    rules, numbers = {"fill": "{name}", "text": MEMBERS}, count()
    async with opened(tmp_path, runtime, models="class Shop:\n    opened = 1\n", **rules) as user:

        async def constrained() -> bool:
            user.change(MEMBERS + "\n" * next(numbers))  # no answer that was kept counts
            return await user.shown(5, 18) == ["ened"]

        await until(constrained, 60)
        assert await user.shown(4, 14) == ["guessed"], "a comment is prose"
        assert await user.shown(9, 18) == ["guessed"], "nothing tells the type"
