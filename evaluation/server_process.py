"""A language server of one's own, spoken to over stdio as an editor does."""

import asyncio
import itertools
import json
import os
import sys
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

Message = dict[str, Any]


class ServerProcess:
    """One running ``intarsia serve``. One request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._ids = itertools.count(1)
        self._notifications: deque[Message] = deque()

    def notify(self, method: str, params: object) -> None:
        self._send({"method": method, "params": params})

    async def request(self, method: str, params: object) -> Any:
        """Return the result once it has come, None also where it is an error."""
        number = next(self._ids)
        self._send({"id": number, "method": method, "params": params})
        while "method" in (message := await self._receive()):
            self._take(message)
        return message.get("result")

    async def notified(self, method: str) -> Any:
        """Return the parameters of the next notification of this method; skip all others."""
        while True:
            while self._notifications:
                message = self._notifications.popleft()
                if message["method"] == method:
                    return message["params"]
            self._take(await self._receive())

    def _take(self, message: Message) -> None:
        """Keep a notification; grant what the server asks for, and know no settings."""
        if "id" in message:
            self._send({"id": message["id"], "result": None})
        else:
            self._notifications.append(message)

    def _send(self, message: Message) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def _receive(self) -> Message:
        """Read one message; raise IncompleteReadError where the server has ended."""
        header = await self._reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1])
            for line in header.splitlines()
            if line.lower().startswith(b"content-length:")
        )
        message: Message = json.loads(await self._reader.readexactly(length))
        return message


@asynccontextmanager
async def serving(environment: Mapping[str, str] | None = None) -> AsyncIterator[ServerProcess]:
    """Start a server, not initialized yet, with more environment; it is killed at the end."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "intarsia.cli", "serve"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, **(environment or {})},
    )
    assert process.stdin and process.stdout
    try:
        yield ServerProcess(process.stdout, process.stdin)
    finally:
        process.kill()
        await process.communicate()
