"""What a rename has left in other files: told with the offers, and applied as one edit."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from client_edits import Applied, apply_edits, code_actions, cursor
from editor_clients import open_document, replace, vscode
from engine_watch import until
from extended_client import Message, notified, told_page
from lsprotocol import types
from pytest_lsp import LanguageClient

from intarsia.engine.ipc.address import Address

pytestmark = pytest.mark.usefixtures("short_pauses")

PRICES = "def total(lines):\n    return sum(lines)\n"
NAME = types.Range(types.Position(0, 4), types.Position(0, 9))
CLOSED = "# 😀\r\nfrom prices import total\r\n\r\nx = '😀', total([])  # total\r\n"
OPENED = "import prices\n\nprices.total([])\n"
FILES = {
    "prices.py": PRICES,
    "closed.py": CLOSED,
    "opened.py": OPENED,
    ".gitignore": "ignored.py\n",
    "ignored.py": "from prices import total\n",
    "excluded/use.py": "from prices import total\n",
    "stranger.py": "from elsewhere import total\n",
}
NEW_OPENED = "import prices\n\n\nprices.total([])\n"  # typed, and not saved


@dataclass
class Editor:
    client: LanguageClient
    messages: list[Message]
    folder: Path
    uri: str = ""
    version: int = 1

    def replace(self, where: types.Range, new: str) -> None:
        self.version += 1
        replace(self.client, self.uri, where, new, self.version)

    @property
    def told(self) -> Mapping[str, Any]:
        sent = [it for it in notified(self.messages, "intarsia/nextEdits") if it["uri"] == self.uri]
        return sent[-1] if sent else {}

    async def left(self, files: int, uses: int) -> None:
        """Wait until the newest version has so much left in other files."""

        def is_so() -> bool:
            elsewhere = self.told.get("rename", {}).get("elsewhere")
            is_newest = self.told.get("version") == self.version
            return is_newest and elsewhere == {"files": files, "uses": uses}

        await until(is_so, 60)

    async def command(self, **arguments: Any) -> Any:
        argument = {"textDocument": {"uri": self.uri}, **arguments}
        params = types.ExecuteCommandParams("intarsia.renameInFiles", [argument])
        return await self.client.workspace_execute_command_async(params)

    def changed(self, edit: types.WorkspaceEdit) -> dict[str, tuple[int | None, str]]:
        """Return the version and the new text of each document of an edit."""
        texts = {**FILES, "opened.py": NEW_OPENED, "prices.py": PRICES.replace("total", "cost")}
        found = {}
        for change in edit.document_changes or ():
            assert isinstance(change, types.TextDocumentEdit)
            name = Path(change.text_document.uri).name
            edits = [it for it in change.edits if isinstance(it, types.TextEdit)]
            found[name] = change.text_document.version, apply_edits(texts[name], edits)
        return found


@asynccontextmanager
async def editing(runtime: Address, folder: Path) -> AsyncIterator[Editor]:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, newline="")
    who = vscode()
    who.workspace_folders = [types.WorkspaceFolder(folder.as_uri(), folder.name)]
    options = {"fillAhead": "off", "exclude": ["excluded/**"]}
    how = {"who": who, "options": options, "rules": [], "text": "", "next_edits": []}
    async with told_page(runtime, "", "next_edits", **how) as (page, messages):
        editor = Editor(page.client, messages, folder)
        editor.uri = open_document(page.client, (folder / "prices.py").as_uri(), PRICES)
        other = open_document(page.client, (folder / "opened.py").as_uri(), OPENED)
        replace(page.client, other, cursor(1, 0), "\n", 2)
        yield editor


NEW = {
    "closed.py": (None, CLOSED.replace("total\r", "cost\r", 1).replace("total([", "cost([")),
    "opened.py": (2, NEW_OPENED.replace("total", "cost")),
}


async def test_one_edit_renames_in_open_and_closed_files(runtime: Address, tmp_path: Path) -> None:
    async with editing(runtime, tmp_path) as editor:
        applied = Applied(editor.client)
        editor.replace(NAME, "cost")
        await editor.left(2, 3)
        assert editor.told["edits"] == []
        assert (await editor.command())["applied"]
        (params,) = applied.params
        assert editor.changed(params.edit) == NEW


async def test_the_text_of_a_closed_file_is_that_of_the_moment(runtime, tmp_path):
    async with editing(runtime, tmp_path) as editor:
        editor.replace(NAME, "cost")
        await editor.left(2, 3)
        (tmp_path / "closed.py").write_text(f"\n\n{CLOSED}", newline="")
        edit = (await editor.command(apply=False))["edit"]
        parts = {Path(it["textDocument"]["uri"]).name: it for it in edit["documentChanges"]}
        assert parts["closed.py"]["textDocument"]["version"] is None
        assert [it["range"]["start"]["line"] for it in parts["closed.py"]["edits"]] == [3, 5]
        assert parts["opened.py"]["textDocument"]["version"] == 2


async def test_other_clients_get_a_code_action_at_the_name(runtime, tmp_path):
    async with editing(runtime, tmp_path) as editor:
        editor.replace(NAME, "cost")
        await editor.left(2, 3)
        for where, is_automatic, num in ((0, True, 1), (1, True, 0), (1, False, 1)):
            how = {"is_automatic": is_automatic, "only": ["quickfix"]}
            found = await code_actions(editor.client, editor.uri, cursor(where, 0), **how)
            titles = [it.title for it in found if "other file" in it.title]
            assert titles == num * ["Rename total: 3 uses in 2 other files (intarsia)"]


@pytest.mark.parametrize("end", ["undo", "another name", "another edit"])
async def test_it_ends_with_the_rename(runtime: Address, tmp_path: Path, end: str) -> None:
    async with editing(runtime, tmp_path) as editor:
        editor.replace(NAME, "cost")
        await editor.left(2, 3)
        at, new = {
            "undo": (types.Range(types.Position(0, 4), types.Position(0, 8)), "total"),
            "another name": (cursor(0, 8), "s"),
            "another edit": (cursor(1, 4), "x"),
        }[end]
        editor.replace(at, new)
        await until(lambda: editor.told["version"] == editor.version)
        if end == "another name":
            await editor.left(2, 3)
        else:
            assert "rename" not in editor.told
            assert (await editor.command())["reason"] == "there is nothing to rename now"


async def test_a_rename_of_another_thing_has_nothing_elsewhere(runtime, tmp_path):
    async with editing(runtime, tmp_path) as editor:
        editor.replace(types.Range(types.Position(0, 10), types.Position(0, 15)), "rows")
        await until(lambda: editor.told.get("version") == editor.version, 60)
        assert "elsewhere" not in editor.told["rename"]
