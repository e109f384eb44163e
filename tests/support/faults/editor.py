"""A scripted editor with one document: it types, asks, and knows the text that it should have."""

import contextlib
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from editor_clients import (
    SERVER,
    ask_inline,
    change_document,
    connected,
    inline_items,
    insert,
    log_of,
    open_document,
    vscode,
)
from engine_watch import until
from extended_client import Message, asking_for, notified, record
from faults.engine_faults import digest_of
from faults.ground import PATIENCE_S, Ground
from lsprotocol import types
from pytest_lsp import LanguageClient

OPTIONS = {"debounceMs": 0, "deadlineMs": 500, "invokedDeadlineMs": 500, "fillAhead": "off"}
"""Short deadlines: an answer that is overdue is what many faults show."""

DIGEST = "digest = "
BY_DIGEST = ["digest =", "{digest}"]
"""The rule of an engine that answers with the digest of the text before the cursor."""

ENDLESS = {"num_steps": 1_000_000, "step_seconds": 0.001}
"""The options of an engine that fills until the deadline, and is then cut off without a text."""


class Editor:
    """``text`` is the document as the client has it; the cursor is at its end."""

    def __init__(self, client: LanguageClient, messages: list[Message], name: str) -> None:
        self.client = client
        self.messages = messages
        self.name = name
        self.uri = ""
        self.text = ""
        self.version = 1

    def open(self, text: str) -> None:
        self.text, self.version = text, 1
        self.uri = open_document(self.client, self.name, text)

    def write(self, text: str) -> None:
        """Type a line of its own at the end: a line end, then the text."""
        for typed in ("\n", text):
            self._insert(typed)

    def _insert(self, text: str) -> None:
        self.version += 1
        insert(self.client, self.uri, self.end(), text, self.version)
        self.text += text

    def replace(self, text: str) -> None:
        self.version += 1
        self.text = text
        change_document(self.client, self.uri, text, self.version)

    def end(self) -> types.Position:
        lines = self.text.split("\n")
        return types.Position(len(lines) - 1, len(lines[-1]))

    async def ask(self) -> str | None:
        end = self.end()
        params = ask_inline(self.uri, end.line, end.character)
        items = await inline_items(self.client, params)
        return str(items[0].insert_text) if items else None

    async def fill(self, line: str) -> str | None:
        self.write(line)
        return await self.ask()

    async def is_in_step(self) -> bool:
        """Tell whether the server has the client's text, and is answered by an engine."""
        found = await self.fill(DIGEST)
        if found == digest_of(self.text):
            return True
        logging.warning("%r is not the digest of %r:\n%s", found, self.text, self.log())
        return False

    def status(self) -> Any:
        return notified(self.messages, "intarsia/status")[-1]

    def log(self) -> str:
        return log_of(self.client)

    async def is_well(self) -> None:
        """Wait until the status tells no fault: it is sent at most ten times a second."""

        async def is_ready() -> bool:
            return bool(self.status()["state"] == "ready")

        await until(is_ready, PATIENCE_S)

    async def told(self, word: str) -> None:
        """Wait until the reason of a fault is in the status, with this word."""

        async def is_told() -> bool:
            if not notified(self.messages, "intarsia/status"):
                return False
            status = self.status()
            last = status["last"] or {}
            return word in f"{status['message']} {last.get('reason')}"

        await until(is_told, PATIENCE_S)


@contextlib.asynccontextmanager
async def editor_on(
    ground: Ground,
    command: Sequence[str] = SERVER,
    *,
    options: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
    folders: Sequence[types.WorkspaceFolder] | None = None,
    name: str = "a.py",
) -> AsyncIterator[Editor]:
    """Run a server for an editor that shows the status, with its document open."""
    variables = {**ground.environment(), **(environment or {})}
    async with connected(ground.address, command, environment=variables) as client:
        editor = Editor(client, record(client), name)
        who = asking_for(vscode(), status=True)
        who.workspace_folders = folders
        who.initialization_options = {**OPTIONS, **(options or {})}
        await client.initialize_session(who)
        editor.open("start = 1")
        yield editor
        if client._server.returncode is None:
            await client.shutdown_session()
