"""A session of the real language server in this process: bytes in, messages out, no engine.

Suggestions are off, so that no message starts an engine.
"""

import asyncio
import atexit
import io
import json
from functools import cache
from threading import Event
from typing import Any

from pygls.io_ import run_async

from intarsia.lsp.method_table import build_server
from intarsia.lsp.positions import PositionEncoding
from intarsia.lsp.server import BoundedInput, IntarsiaServer

OPTIONS = {"enabled": False, "preload": False, "nextEdit": "off", "statistics": False}
LOOP_TURNS = 8
"""A handler that needs no thread and no engine has answered by then."""


class UnthreadedInput:
    """Our bounded input as pygls reads it, without a thread for each line."""

    def __init__(self, data: bytes) -> None:
        self._source = BoundedInput(io.BufferedReader(io.BytesIO(data)))

    async def readline(self) -> bytes:
        return self._source.readline()

    async def readexactly(self, size: int) -> bytes:
        return self._source.read(size)


class Session:
    """A client's side of one session. ``sent`` are the server's messages."""

    def __init__(self, encoding: PositionEncoding) -> None:
        self.server: IntarsiaServer = build_server()
        self.sent: list[dict[str, Any]] = []
        self.server.protocol.set_writer(self, include_headers=False)
        params = {
            "processId": None,
            "rootUri": None,
            "capabilities": {"general": {"positionEncodings": [encoding]}},
            "initializationOptions": OPTIONS,
        }
        self.send({"jsonrpc": "2.0", "id": "start", "method": "initialize", "params": params})
        assert self.sent[-1]["result"]["capabilities"]["positionEncoding"] == encoding

    @classmethod
    @cache
    def lasting(cls, encoding: PositionEncoding) -> "Session":
        """Return the one session of this encoding that lasts for many inputs: servers are slow to
        build. ``forget_lasting`` ends them all."""
        return cls(encoding)

    @classmethod
    def forget_lasting(cls) -> None:
        """Begin new sessions, as after a failure."""
        cls.lasting.cache_clear()

    def write(self, data: bytes) -> None:
        self.sent.append(json.loads(data))

    def close(self) -> None:
        """Nothing: the server calls it at its end."""

    def send(self, message: object) -> None:
        """Send a message, and wait for what it causes."""
        body = json.dumps(message).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def notify(self, method: str, params: object) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def send_bytes(self, data: bytes) -> None:
        _LOOP.run_until_complete(self._serve(data))

    async def _serve(self, data: bytes) -> None:
        await run_async(Event(), UnthreadedInput(data), self.server.protocol)
        for _ in range(LOOP_TURNS):
            await asyncio.sleep(0)

    def answers(self) -> list[Any]:
        return [it["id"] for it in self.sent if "id" in it and "method" not in it]


_LOOP = asyncio.new_event_loop()
atexit.register(_LOOP.close)
