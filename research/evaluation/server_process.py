"""A language server of one's own, spoken to over stdio as an editor does."""

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
from typing import Any, NamedTuple

from intarsia.engine.ipc.address import resolve_address
from intarsia.research.errors import EvaluationFault

Message = dict[str, Any]

STATUS = "intarsia/status"
# -P: a file called intarsia.py in the folder that we are called from is not the product.
SERVE = (sys.executable, "-P", "-m", "intarsia.cli", "serve")


class Notified(NamedTuple):
    """What the server told unasked. ``at``: time.perf_counter() when it was read."""

    method: str
    params: Any
    at: float


class Answered(NamedTuple):
    """What the server answered, and so long after it was asked."""

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

    def notify(self, method: str, params: object) -> None:
        self._send({"method": method, "params": params})

    async def request(self, method: str, params: object) -> Any:
        """Return the result once it has come. Raises ServerFault where none will."""
        number = next(self._ids)
        self._send({"id": number, "method": method, "params": params})
        return await self._result(method)

    async def answered_within(self, seconds: float, method: str, params: object) -> Answered | None:
        """Send a request, and cancel it where the answer has not come in time."""
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
        """Return all notifications that have come by now, oldest first; they are told once."""
        taken = list(self._notifications)
        self._notifications.clear()
        return taken

    async def notified(self, method: str) -> Any:
        """Return the parameters of the next notification of this method; skip all others."""
        while True:
            while self._notifications:
                told = self._notifications.popleft()
                if told.method == method:
                    return told.params
            self._take(await self._receive())

    async def _result(self, method: str) -> Any:
        while "method" in (message := await self._receive()):
            self._take(message)
        if error := message.get("error"):
            raise ServerRefused(f"the language server refused {method}: {error.get('message')}")
        return message.get("result")

    async def open_session(
        self, options: Mapping[str, Any], *, asks_for_drafts: bool = False
    ) -> Message:
        """Initialize; return the status once the model is loaded. Raises ServerFault."""
        await self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": None,
                "capabilities": {
                    "textDocument": {"inlineCompletion": {}},
                    "experimental": {"intarsia": {"status": True, "drafts": asks_for_drafts}},
                },
                "initializationOptions": options,
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
        """Keep a notification; grant what the server asks for, and know no settings."""
        if "id" in message:
            self._send({"id": message["id"], "result": None})
        else:
            told = Notified(message["method"], message.get("params"), time.perf_counter())
            self._notifications.append(told)

    def _send(self, message: Message) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def _receive(self) -> Message:
        """Read one message. Raises ServerFault where the server has ended."""
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
    """Start a server, not initialized yet, with more environment; it is killed at the end."""
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
    """The address is told in full: variables with relative paths are meant from our folder."""
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=folder,
        env={**os.environ, **resolve_address().as_environment(), **environment},
        start_new_session=True,  # the terminal's Ctrl-C is for its client, which ends it
    )
