"""A user at an editor, drawn with a seed: types, asks, accepts, undoes, deletes, opens, closes."""

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

from client_edits import UNITS
from editor_clients import ask_inline, connected, vscode
from faults.engine_faults import digest_of
from faults.ground import Ground
from lsprotocol import types
from pytest_lsp import LanguageClient
from rule_server import rule_server_command
from soak.record import NO_SUGGESTION, Record

Edit = tuple[int, int, str]
"""Start and end offset, and the text that replaces what is between."""


class Document:
    """``cursor`` is an offset. Each edit returns the notification that tells the server of it."""

    def __init__(self, uri: str, text: str, encoding: str) -> None:
        self.uri = uri
        self.text = text
        self.version = 1
        self.cursor = len(text)
        self.undone: list[Edit] = []  # the newest last, each takes one edit back
        self._codec, self._unit_bytes = UNITS[encoding]

    def opening(self) -> types.DidOpenTextDocumentParams:
        """Return the opening of this text; versions begin at 1 again."""
        self.version = 1
        item = types.TextDocumentItem(self.uri, "python", 1, self.text)
        return types.DidOpenTextDocumentParams(item)

    def edit(self, *edits: Edit) -> types.DidChangeTextDocumentParams:
        """Make edits, one after the other, as one change; the cursor is after the last."""
        events: list[types.TextDocumentContentChangeEvent] = []
        for start, end, new in edits:
            where = types.Range(self.position(start), self.position(end))
            events.append(types.TextDocumentContentChangePartial(where, new))
            self.undone.append((start, start + len(new), self.text[start:end]))
            self.text = self.text[:start] + new + self.text[end:]
            self.cursor = start + len(new)
        self.version += 1
        identifier = types.VersionedTextDocumentIdentifier(uri=self.uri, version=self.version)
        return types.DidChangeTextDocumentParams(identifier, events)

    def insert(self, text: str) -> types.DidChangeTextDocumentParams:
        return self.edit((self.cursor, self.cursor, text))

    def undo(self) -> types.DidChangeTextDocumentParams:
        change = self.edit(self.undone.pop())
        self.undone.pop()
        return change

    def position(self, offset: int) -> types.Position:
        """Return the position of an offset, in the encoding agreed with the server."""
        start = self.text.rfind("\n", 0, offset) + 1
        num_units = len(self.text[start:offset].encode(self._codec)) // self._unit_bytes
        return types.Position(self.text.count("\n", 0, offset), num_units)

    def offset(self, at: types.Position) -> int:
        lines = self.text.split("\n")
        before = lines[at.line].encode(self._codec)[: at.character * self._unit_bytes]
        return sum(len(line) + 1 for line in lines[: at.line]) + len(before.decode(self._codec))


WORDS = ("value", "total", "é_name", "items", "result", "naïve", "π", "count", "offset", "row")
LINES = ("a = 1\n", "total = first + second\n", "é = '𝄞 🎼'\n", "result = call(value, row)\n")
CHECK = "\nchecked = 1\ndigest = "
MAX_CHARACTERS = 2_000
"""The engine sees the whole text before the cursor up to here, so its digest is of all of it."""
MAX_OPEN, NUM_FILES = 3, 6
KEY_S = (0.03, 0.18)
SERVER = rule_server_command(
    rules=[
        ["digest =", "{digest}"],
        *([f"{name} =", f"!{name}"] for name in ("crash", "wedge", "spin", "device")),
    ],
    text="value + other(row)",
    step_seconds=0.002,
    unsure=("other",),
)
"""Its engine answers with digests, and fails after these words."""


class Typist:
    """Works at a server, which may be killed and is then replaced; the last document is in front.

    Raises RuntimeError where a server has ended: pygls fails the requests that are open then.
    """

    def __init__(self, number: int, ground: Ground, record: Record, seed: int) -> None:
        self.number = number
        self.documents: list[Document] = []
        self._ground = ground
        self._record = record
        self._random = Random(f"{seed} {number}")
        self._encoding = ("utf-16", "utf-8", "utf-32")[number % 3]
        self._ids = itertools.count()
        self._process = contextlib.AsyncExitStack()
        self._waiting: set[asyncio.Task[Any]] = set()
        self.client: LanguageClient

    @property
    def server(self) -> Any:
        return self.client._server

    async def start(self) -> None:
        """Start a server, and open what is open here, as an editor does after a crash."""
        self.client = await self._process.enter_async_context(
            connected(self._ground.address, SERVER, environment=self._ground.environment())
        )
        self.client.log_messages = _Log(self._record)
        who = vscode()
        who.capabilities.experimental = {"intarsia": {"status": True, "drafts": True}}
        for method in ("intarsia/status", "intarsia/draft"):
            self.client.feature(method)(lambda params: None)
        who.capabilities.general.position_encodings = [types.PositionEncodingKind(self._encoding)]
        project = self._ground.project
        who.workspace_folders = [types.WorkspaceFolder(project.as_uri(), project.name)]
        answer = await self.client.initialize_session(who)
        assert answer.capabilities.position_encoding == self._encoding
        for document in self.documents:
            self.client.text_document_did_open(document.opening())

    async def end(self) -> None:
        await self.client.shutdown_session()
        await self._process.aclose()

    async def work(self, stopped: asyncio.Event) -> None:
        """Work until told to stop, then wait for the answers that are due."""
        while not stopped.is_set():
            try:
                await self._act()
            except (RuntimeError, OSError):
                if self.server.returncode is None:
                    raise
            if self.server.returncode is not None:
                await asyncio.gather(*self._waiting)
                await self._process.aclose()
                await self.start()
        await asyncio.gather(*self._waiting)

    async def is_in_step(self) -> bool:
        return all([await self._check(document) for document in list(self.documents)])

    async def ask(self, document: Document, *, is_invoked: bool = False, id: str = "") -> Any:
        """Return the first item at the cursor, None where there is none."""
        if self.server.returncode is not None:
            raise RuntimeError("the server has ended")
        at, version = document.position(document.cursor), document.version
        params = ask_inline(document.uri, at.line, at.character, is_invoked=is_invoked)
        send = self.client.protocol.send_request_async
        method, id = types.TEXT_DOCUMENT_INLINE_COMPLETION, id or self._id()
        answer = await self._record.ask(self.number, send(method, params, msg_id=id))
        if answer is None and version != document.version:
            self._record.num_outdated += 1
        return answer.items[0] if answer is not None and answer.items else None

    async def ask_for(self, line: str) -> None:
        """Ask in a document of its own that has this line, without an interest in the answer."""
        uri = (self._ground.project / "fault.py").as_uri()
        document = Document(uri, line, self._encoding)
        with contextlib.suppress(RuntimeError, OSError):
            self.client.text_document_did_open(document.opening())
            await self.ask(document, is_invoked=True)
            self._close(document)

    async def _check(self, document: Document) -> bool:
        """Compare the server's text with ours. The line that asks for its digest is taken back.

        False, too, where there is no answer, as while an engine is replaced.
        """
        end = len(document.text)
        self._change(document.edit((end, end, CHECK)))
        version, expected = document.version, document.text
        item = await self.ask(document, is_invoked=True)
        if document.version == version:
            self._change(document.undo())
        if item is None:
            return False
        self._record.num_compared += 1
        is_same = str(item.insert_text) == digest_of(expected)
        if not is_same:
            self._record.differ.append(f"client {self.number}, {document.uri}: not {expected!r}")
        return is_same

    async def _act(self) -> None:
        if not self.documents:
            self._open()
        document = self.documents[-1]
        if len(document.text) > MAX_CHARACTERS:
            self._change(document.edit((MAX_CHARACTERS // 4, len(document.text), "")))
        actions: dict[Callable[[Document], Awaitable[Any]], int] = {
            self._type_word: 40,
            self._type_lines: 14,
            self._delete: 7,
            self._undo: 9,
            self._edit_with_several_cursors: 3,
            self._move: 8,
            self._ask_and_accept: 5,
            self._check: 9,
            self._go_to_another: 5,
        }
        await self._random.choices(list(actions), list(actions.values()))[0](document)
        await self._pause()

    async def _type_word(self, document: Document) -> None:
        """Ask at some keys, as editors do, and type on or wait."""
        for key in self._random.choice(WORDS) + self._random.choice((" ", " = ", " + ", "")):
            self._change(document.insert(key))
            if self._random.random() < 0.3:
                self._ask_and_go_on(document)
            await self._pause()
        await self._ask_and_accept(document)

    def _ask_and_go_on(self, document: Document) -> None:
        """Ask, and cancel half of the requests."""
        id = self._id()
        task = asyncio.ensure_future(self.ask(document, id=id))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)
        if self._random.random() < 0.5:
            pause_s = self._random.uniform(*KEY_S)
            asyncio.get_running_loop().call_later(pause_s, self._cancel, id, task)

    def _cancel(self, id: str, task: "asyncio.Task[Any]") -> None:
        if not task.done() and self.server.returncode is None:
            self.client.cancel_request(types.CancelParams(id))

    async def _ask_and_accept(self, document: Document) -> None:
        """Ask, and accept half of the answers, some in part, as by a key for the next word."""
        version, is_invoked = document.version, self._random.random() < 0.1
        item = await self.ask(document, is_invoked=is_invoked)
        if item is None or document.version != version or self._random.random() < 0.5:
            return
        accepted = str(item.insert_text)
        if self._random.random() < 0.3:
            accepted = accepted[: self._random.randint(1, len(accepted))]
        where = item.range
        start, end = document.offset(where.start), document.offset(where.end)
        self._change(document.edit((start, end, accepted)))

    async def _type_lines(self, document: Document) -> None:
        self._change(document.insert(self._random.choice(("\n", "".join(LINES)))))
        await self._ask_and_accept(document)

    async def _delete(self, document: Document) -> None:
        start = max(0, document.cursor - self._random.randint(1, 12))
        self._change(document.edit((start, document.cursor, "")))
        self._ask_and_go_on(document)

    async def _undo(self, document: Document) -> None:
        for _ in range(min(len(document.undone), self._random.randint(1, 5))):
            self._change(document.undo())
            await self._pause()
        self._ask_and_go_on(document)

    async def _edit_with_several_cursors(self, document: Document) -> None:
        places = sorted(self._random.choices(range(len(document.text) + 1), k=3), reverse=True)
        self._change(document.edit(*((place, place, "x") for place in places)))

    async def _move(self, document: Document) -> None:
        document.cursor = self._random.randint(0, len(document.text))
        await self._ask_and_accept(document)

    async def _go_to_another(self, document: Document) -> None:
        """Go to the one that is open longest; or open one, and close that one of too many."""
        if self._random.random() < 0.5:
            self.documents.append(self.documents.pop(0))
            return
        self._open()
        if len(self.documents) > MAX_OPEN:
            await self._check(self.documents[0])
            self._close(self.documents.pop(0))

    def _open(self) -> None:
        """Open a drawn file that is not open: one that was closed is opened again."""
        folder = self._ground.project
        uris = {(folder / f"client{self.number}_{it}.py").as_uri() for it in range(NUM_FILES)}
        uri = self._random.choice(sorted(uris - {document.uri for document in self.documents}))
        text = "".join(self._random.choices(LINES, k=8))
        self.documents.append(Document(uri, text, self._encoding))
        self.client.text_document_did_open(self.documents[-1].opening())

    def _close(self, document: Document) -> None:
        identifier = types.TextDocumentIdentifier(document.uri)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))

    def _change(self, change: types.DidChangeTextDocumentParams) -> None:
        self.client.text_document_did_change(change)

    def _id(self) -> str:
        return f"soak {self.number} {next(self._ids)}"

    async def _pause(self) -> None:
        await asyncio.sleep(self._random.uniform(*KEY_S))


class _Log(list[types.LogMessageParams]):
    """A client's log, which keeps no message, as a soak has many: it counts the reasons."""

    def __init__(self, record: Record) -> None:
        super().__init__()
        self._record = record

    def append(self, message: types.LogMessageParams) -> None:
        if message.message.startswith(NO_SUGGESTION):
            self._record.reasons[message.message.removeprefix(NO_SUGGESTION)] += 1
