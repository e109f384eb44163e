"""A language server process, and a client that talks to it over stdio as an editor does."""

import asyncio
import itertools
import json
import os
import sys
import tempfile
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from intarsia.engine.ipc.address import resolve_address
from intarsia.engine.ipc.launch import absolute_folders
from intarsia_research.errors import EvaluationFault

Message = dict[str, Any]

STATUS = "intarsia/status"
# -P: do not import an intarsia.py from the current folder.
SERVE = (sys.executable, "-P", "-m", "intarsia.cli", "serve")


class Notified(NamedTuple):
    """A notification of the server. ``at``: time.perf_counter() when it was read."""

    method: str
    params: Any
    at: float


class Answered(NamedTuple):
    """A response of the server, and the seconds from request to response."""

    result: Any
    seconds: float


class ServerFault(EvaluationFault):
    """The server has ended, or has refused a request."""


class ServerRefused(ServerFault):
    """The server answered with an error."""


class ServerProcess:
    """One running ``intarsia serve``. One request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._ids = itertools.count(1)
        self._notifications: deque[Notified] = deque()
        self._folder: str | None = None  # the one that is open

    def open_folder(self, root: Path) -> None:
        """Make the server open this folder instead of the one before."""
        uri = root.resolve().as_uri()
        if uri != self._folder:
            removed = [{"uri": self._folder, "name": ""}] if self._folder else []
            event = {"added": [{"uri": uri, "name": root.name}], "removed": removed}
            self.notify("workspace/didChangeWorkspaceFolders", {"event": event})
            self._folder = uri

    def notify(self, method: str, params: object) -> None:
        self._send({"method": method, "params": params})

    async def request(self, method: str, params: object) -> Any:
        """Return the result of a request. Raise ServerFault if there will be none."""
        number = next(self._ids)
        self._send({"id": number, "method": method, "params": params})
        return await self._result(method)

    async def answered_within(self, seconds: float, method: str, params: object) -> Answered | None:
        """Send a request; if the response takes longer, cancel the request and return None."""
        number = next(self._ids)
        started = time.perf_counter()
        self._send({"id": number, "method": method, "params": params})
        waiting = asyncio.ensure_future(self._result(method))
        done, _ = await asyncio.wait({waiting}, timeout=seconds)
        if not done:
            self.notify("$/cancelRequest", {"id": number})
            with suppress(ServerRefused):
                await waiting
            return None
        return Answered(result=await waiting, seconds=time.perf_counter() - started)

    def taken(self) -> list[Notified]:
        """Return the notifications received by now, oldest first, and forget them."""
        taken = list(self._notifications)
        self._notifications.clear()
        return taken

    async def notified(self, method: str) -> Any:
        """Return the parameters of the next notification of this method; drop the others."""
        while True:
            while self._notifications:
                notification = self._notifications.popleft()
                if notification.method == method:
                    return notification.params
            self._take(await self._receive())

    async def _result(self, method: str) -> Any:
        while "method" in (message := await self._receive()):
            self._take(message)
        if error := message.get("error"):
            raise ServerRefused(f"the language server refused {method}: {error.get('message')}")
        return message.get("result")

    async def open_session(
        self,
        options: Mapping[str, Any],
        *,
        asks_for_drafts: bool = False,
        client: Mapping[str, Any] | None = None,
    ) -> Message:
        """Initialize the server; return its status after the model is loaded. Raise ServerFault.

        ``client``: more parameters of ``initialize``, such as the client's name.
        """
        await self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": None,
                "capabilities": {
                    "textDocument": {"inlineCompletion": {}},
                    "experimental": {"intarsia": {"status": True, "drafts": asks_for_drafts}},
                },
                "initializationOptions": {"statistics": False, **options},
                **(client or {}),
            },
        )
        self.notify("initialized", {})
        while True:
            status: Message = await self.notified(STATUS)
            if status["state"] == "failed":
                raise ServerFault(status["message"])
            if status["model"] is not None:
                return status

    def _take(self, message: Message) -> None:
        """Keep a notification; answer a request of the server with null."""
        if "id" in message:
            self._send({"id": message["id"], "result": None})
        else:
            notification = Notified(message["method"], message.get("params"), time.perf_counter())
            self._notifications.append(notification)

    def _send(self, message: Message) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def _receive(self) -> Message:
        """Read one message. Raise ServerFault if the server has ended."""
        try:
            header = await self._reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.split(b":")[1])
                for line in header.splitlines()
                if line.lower().startswith(b"content-length:")
            )
            message: Message = json.loads(await self._reader.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise ServerFault("the language server has ended: see `intarsia doctor`") from error
        return message


@asynccontextmanager
async def serving(
    environment: Mapping[str, str] | None = None, command: Sequence[str] = SERVE
) -> AsyncIterator[ServerProcess]:
    """Start a server, not initialized, with additional environment; kill it at the end."""
    with tempfile.TemporaryDirectory(prefix="intarsia-", ignore_cleanup_errors=True) as folder:
        process = await _start(command, environment or {}, folder)
        assert process.stdin and process.stdout
        try:
            yield ServerProcess(process.stdout, process.stdin)
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate()


async def _start(
    command: Sequence[str], environment: Mapping[str, str], folder: str
) -> asyncio.subprocess.Process:
    """Start the process. Folders are named by full paths, because its working folder differs."""
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=folder,
        env={
            **os.environ,
            **absolute_folders(),
            **resolve_address().as_environment(),
            **environment,
        },
        start_new_session=True,  # Ctrl-C in the terminal goes to its client, which ends it
    )
