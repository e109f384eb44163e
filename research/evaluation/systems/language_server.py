"""Fill cases as an editor does: ask a real ``intarsia serve`` for ghost text at the cursor.

One server runs for all cases, restarted after it ends or does not answer; each case is its own
document. The server decides whether a hole is a line or a block. A random span is requested as an
edit of an empty range; the server does not report its cost. With ``reads_project``, the folder of a
case is opened, and the hole is asked for again when the server has had time to read other files.
"""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import quote

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.errors import EngineError
from intarsia.infill.filling.plan import FillOptions
from intarsia.infill.syntax.text import line_start, splits_line_end, with_plain_newlines
from intarsia.lsp.settings import Settings
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.answer import Answer, Failures, failed
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.record import SystemInfo
from intarsia_research.evaluation.server_process import (
    SERVE,
    STATUS,
    Message,
    ServerFault,
    ServerProcess,
    serving,
)
from intarsia_research.evaluation.systems.client import (
    SLACK_S,
    described,
    described_engine,
    patient,
    server_options,
)

_INVOKED, _AUTOMATIC = 1, 2  # LSP's InlineCompletionTriggerKind

READING_S = 5.0
"""What a user takes to look at a file before typing in it: time to choose and read other files."""


class LanguageServer:
    """The language server as a system.

    ``name`` defaults to the decoding. ``is_invoked``: ask as on a key press; the text is that of
    the first candidate, the cost that of all. ``address`` None: the user's own engine.
    ``slack_s``: how long to wait for an answer after its deadline.
    """

    def __init__(
        self,
        options: FillOptions | None = None,
        *,
        name: str | None = None,
        is_invoked: bool = False,
        reads_project: bool = False,
        address: Address | None = None,
        command: Sequence[str] = SERVE,
        slack_s: float = SLACK_S,
        reading_s: float = READING_S,
    ) -> None:
        self._options = patient(options or FillOptions())
        self._sent = server_options(self._options)
        self._is_invoked = is_invoked
        self._address = address
        self._command = command
        self._slack_s = slack_s
        self._reading_s = reading_s if reads_project else None
        if reads_project:
            self._sent |= {"fillAhead": Settings().fill_ahead}  # it revises what was answered
        self.name = name or self._options.decoding

    @asynccontextmanager
    async def ready(self) -> AsyncIterator["LanguageServerClient"]:
        """Start a server, which starts the engine. Raise EvaluationFault if that fails."""
        started = _StartedServer(self._command, self._address, self._sent)
        try:
            status = await started.start()
            client = LanguageServerClient(
                started,
                await self._info(status["model"]),
                trigger=_INVOKED if self._is_invoked else _AUTOMATIC,
                limit_s=self._slack_s + self._sent["deadlineMs"] / 1000,
                reading_s=self._reading_s,
            )
            yield client
        finally:
            await started.end()

    async def _info(self, model: str) -> SystemInfo:
        try:
            engine = await described_engine(self._address)
        except EngineError as error:
            raise EvaluationFault(str(error)) from error
        trigger = {"trigger": "invoked" if self._is_invoked else "automatic"}
        if self._reading_s is not None:
            trigger["other files"] = f"asked for again after {self._reading_s:g} s"
        return SystemInfo(
            name=self.name,
            way="language server",
            model=model,
            details=described(self._options) | trigger | engine,
        )


class LanguageServerClient:
    """Sends one request at a time to one server."""

    def __init__(
        self,
        server: "_StartedServer",
        info: SystemInfo,
        *,
        trigger: int,
        limit_s: float,
        reading_s: float | None = None,
    ) -> None:
        """``reading_s``: how long the project of a case is read, None if it is not opened."""
        self.info = info
        self._server = server
        self._trigger = trigger
        self._limit_s = limit_s
        self._reading_s = reading_s
        self._failures = Failures()
        self._numbers = itertools.count(1)

    async def fill(self, case: Case) -> Answer:
        """Fill one hole."""
        return self._failures.noted(await self._fill(case))

    async def _fill(self, case: Case) -> Answer:
        if splits_line_end(case.filled(""), len(case.prefix)):
            return failed("LSP has no position between the CR and the LF of a line end", 0.0)
        started = time.perf_counter()
        try:
            server = await self._server.running()
            async with asyncio.timeout(self._limit_s):
                return await self._ask(server, case)
        except TimeoutError:
            reason = f"no answer within {self._limit_s:g} s"
        except ServerFault as fault:
            reason = str(fault)
        await self._server.end()
        return failed(reason, 1000 * (time.perf_counter() - started))

    async def _ask(self, server: ServerProcess, case: Case) -> Answer:
        uri = f"file:///evaluation/{next(self._numbers)}/{quote(case.path.lstrip('/'))}"
        reading_s = self._reading_s if case.root else None
        if case.root is not None and reading_s is not None:
            server.open_folder(case.root)
            uri = (case.root.resolve() / case.path).as_uri()
        text = case.filled("")
        cursor = position_of(text, len(case.prefix))
        opened = {"uri": uri, "languageId": case.language, "version": 1, "text": text}
        server.notify("textDocument/didOpen", {"textDocument": opened})
        if case.is_range:
            answer = await _ask_for_edit(server, uri, cursor)
        else:
            answer = await self._ask_for_ghost_text(server, uri, cursor)
            if reading_s is not None:
                await asyncio.sleep(reading_s)
                answer = await self._ask_for_ghost_text(server, uri, cursor)
        server.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        return answer

    async def _ask_for_ghost_text(
        self, server: ServerProcess, uri: str, cursor: dict[str, int]
    ) -> Answer:
        request = {
            "textDocument": {"uri": uri},
            "position": cursor,
            "context": {"triggerKind": self._trigger},
        }
        started = time.perf_counter()
        result = await server.request("textDocument/inlineCompletion", request)
        ms = 1000 * (time.perf_counter() - started)
        return _answer(result, await _last(server, uri), cursor, ms)


async def _ask_for_edit(server: ServerProcess, uri: str, cursor: dict[str, int]) -> Answer:
    empty = {"start": cursor, "end": cursor}
    edit = {"kind": "fill", "textDocument": {"uri": uri}, "range": empty, "apply": False}
    request = {"command": "intarsia.edit", "arguments": [edit]}
    started = time.perf_counter()
    result = await server.request("workspace/executeCommand", request)
    ms = 1000 * (time.perf_counter() - started)
    if result["edit"] is None:
        return Answer(text="", reason=str(result["reason"]), ms=ms)
    (document,) = result["edit"]["documentChanges"]
    (change,) = document["edits"]
    if change["range"] != empty:
        return failed(f"the edit replaces {change['range']}", ms)
    return Answer(text=str(change["newText"]), reason=None, ms=ms)


class _StartedServer:
    """The server that runs now, if any."""

    def __init__(
        self, command: Sequence[str], address: Address | None, options: Mapping[str, Any]
    ) -> None:
        self._command = command
        self._environment = None if address is None else address.as_environment()
        self._options = options
        self._stack = AsyncExitStack()
        self._server: ServerProcess | None = None

    async def running(self) -> ServerProcess:
        """Return the server; start it if it does not run."""
        if self._server is None:
            await self.start()
        assert self._server is not None
        return self._server

    async def start(self) -> Message:
        """Start a server; return its status after the model is loaded. Raise ServerFault."""
        server = await self._stack.enter_async_context(serving(self._environment, self._command))
        self._server = server
        return await server.open_session(self._options)

    async def end(self) -> None:
        self._server = None
        await self._stack.aclose()


def position_of(text: str, offset: int) -> dict[str, int]:
    """Return the LSP position of an offset, in UTF-16 units."""
    start = line_start(text, offset)
    line = with_plain_newlines(text[:start]).count("\n")
    units = len(text[start:offset].encode("utf-16-le", "surrogatepass")) // 2
    return {"line": line, "character": units}


async def _last(server: ServerProcess, uri: str) -> Message:
    """Return the server's report on the request that it has just answered."""
    while True:
        last: Message | None = (await server.notified(STATUS))["last"]
        if last is not None and last["uri"] == uri:
            return last


def _answer(result: Any, last: Message, cursor: dict[str, int], ms: float) -> Answer:
    """Return the answer of the first item. An item that replaces text counts as a failure."""
    items = (result or {}).get("items", [])
    item = items[0] if items else None
    is_replacing = item is not None and item.get("range") not in (
        None,
        {"start": cursor, "end": cursor},
    )
    text = "" if item is None or is_replacing else str(item["insertText"])
    reason = None if text else str(last["reason"])
    return Answer(
        text=text,
        reason=f"the item replaces {item['range']}" if item and is_replacing else reason,
        is_failure=is_replacing or (not text and bool(last["failed"])),
        ms=ms,
        engine_ms=last["ms"],
        read_ms=last["readMs"],
        num_forwards=last["numForwards"],
        num_tokens=last["tokensWritten"],
        mean_entropy=last["meanEntropy"],
        num_read=last["tokensRead"],
        num_reused=last["tokensReused"],
    )
