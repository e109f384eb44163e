"""The HTTP API on a real socket, in the test's process, with an engine that fills by rules."""

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from in_process_engine import always, in_process_engine
from rule_filler import RuleFiller
from starlette.types import Message, Receive, Scope, Send

from intarsia.cli.api.server import Listening, guarded_app, listen, serve
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import Fill

HERE = dict(host="127.0.0.1", port=0, key_file=None, tls_cert=None, tls_key=None)


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        """The JSON of each server-sent event; ``[DONE]`` as it is."""
        events = [part.removeprefix(b"data: ") for part in self.body.split(b"\n\n") if part]
        return [event if event == b"[DONE]" else json.loads(event) for event in events]

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.body.splitlines()]


@dataclass
class Desk:
    """A running API, and what reached the engine."""

    listening: Listening
    client: EngineClient
    fills: list[Fill] = field(default_factory=list)
    requests: list[tuple[str, bytes]] = field(default_factory=list)  # path and body
    trusted: ssl.SSLContext | None = None  # how TLS is checked
    left: asyncio.Event = field(default_factory=asyncio.Event)  # a request has ended

    @property
    def port(self) -> int:
        return self.listening.port

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host = self.listening.socket.getsockname()[0] if self.trusted is None else "127.0.0.1"
        return await asyncio.open_connection(host, self.port, ssl=self.trusted)

    async def send(self, raw: bytes) -> Reply:
        """Send bytes as they are; return what is answered until the server closes."""
        reader, writer = await self.connect()
        writer.write(raw)
        reply = read_reply(await reader.read())
        writer.close()
        return reply

    async def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Reply:
        return await self.send(self.request(method, path, body, **headers))

    async def post(self, path: str, fields: Mapping[str, Any], **headers: str) -> Reply:
        return await self.ask("POST", path, json.dumps(fields).encode(), **headers)

    async def complete(self, **fields: Any) -> Reply:
        return await self.post("/v1/completions", fields)

    def request(self, method: str, path: str, body: bytes, **headers: str) -> bytes:
        """Return a request as bytes; a header that is given as empty is left out."""
        named = {"Host": f"127.0.0.1:{self.port}", "Content-Type": "application/json"}
        named |= {"Connection": "close", "Content-Length": str(len(body))}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in named.items() if v)]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def read_reply(raw: bytes) -> Reply:
    """Return an answer that the server has sent whole."""
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *rest = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in rest)
    return Reply(status=int(first.split()[1]), headers=headers, body=body)


@contextlib.asynccontextmanager
async def running_api(
    address: Address,
    write: Callable[[Fill], str] = lambda _: "a + b",
    *,
    where: dict[str, Any] = HERE,
    trusted: ssl.SSLContext | None = None,
    **options: Any,
) -> AsyncIterator[Desk]:
    """Run the API and an engine; the options are those of RuleFiller."""
    fills: list[Fill] = []

    def rules(request: Fill) -> str:
        fills.append(request)
        return write(request)

    async with (
        in_process_engine(address, always(RuleFiller(rules, **options))),
        serving(address, where) as desk,
    ):
        desk.fills, desk.trusted = fills, trusted
        yield desk


@contextlib.contextmanager
def api_in_thread(address: Address, write: Callable[[Fill], str], **options: Any) -> Iterator[Desk]:
    """Run the API and an engine that fills by rules in a thread, for a test that blocks."""
    with _in_thread(partial(running_api, address, write, **options)) as desk:
        yield desk


@contextlib.contextmanager
def api_of_real_engine(address: Address) -> Iterator[Desk]:
    """Run the API in a thread, for the engine at the address."""
    with _in_thread(partial(serving, address)) as desk:
        yield desk


@contextlib.contextmanager
def _in_thread(open_desk: Callable[[], AbstractAsyncContextManager[Desk]]) -> Iterator[Desk]:
    opened: Future[tuple[Desk, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve_until_closed() -> None:
        async with open_desk() as desk:
            closed = asyncio.Event()
            opened.set_result((desk, asyncio.get_running_loop(), closed))
            await closed.wait()

    with ThreadPoolExecutor(1) as thread:
        served = thread.submit(asyncio.run, serve_until_closed())
        served.add_done_callback(lambda _: opened.done() or opened.cancel())
        desk, loop, closed = opened.result(60)
        try:
            yield desk
        finally:
            loop.call_soon_threadsafe(closed.set)
            served.result(60)


@contextlib.asynccontextmanager
async def serving(address: Address, where: dict[str, Any] = HERE) -> AsyncIterator[Desk]:
    """Run the API for whatever engine is at the address."""
    async with EngineClient(name="api", start=False, address=address) as client:
        listening = listen(**where)
        app = guarded_app(client, client, keys=listening.keys, is_loopback=listening.is_loopback)
        desk = Desk(listening=listening, client=client)

        async def watched(scope: Scope, receive: Receive, send: Send) -> None:
            body = bytearray()

            async def read() -> Message:
                message = await receive()
                body.extend(message.get("body", b""))
                return message

            try:
                await app(scope, read, send)
            finally:
                desk.requests.append((scope["path"], bytes(body)))
                desk.left.set()

        end = asyncio.Event()
        server = asyncio.ensure_future(serve(watched, listening, end))
        try:
            yield desk
        finally:
            end.set()
            await server
