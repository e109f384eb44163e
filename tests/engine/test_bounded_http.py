"""Clients that are slow, silent or many: each is given up, and all others are served."""

import asyncio
import itertools
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvicorn
from engine_watch import until
from starlette.types import Receive, Scope, Send

from intarsia.engine.bounded_http import BoundedConfig, server_tls

WAIT_S = 10
PATIENCE_S = 0.2
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
UPLOAD = b"POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
LONG = b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n"
ENDLESS = b"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n"

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class App:
    """``/body`` waits for the whole body, ``/long`` until ``go``, ``/endless`` sends for ever."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.num_long = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/body":
            while (await receive()).get("more_body"):
                pass
        if scope["path"] == "/long":
            self.num_long += 1
            await self.go.wait()
        headers = [(b"content-length", b"2")] if scope["path"] != "/endless" else []
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if scope["path"] == "/endless":
            gone = asyncio.create_task(self._until_gone(receive))
            while not gone.done():
                await send({"type": "http.response.body", "body": b"x" * 65_536, "more_body": True})
            return
        await send({"type": "http.response.body", "body": b"ok", "more_body": False})

    async def _until_gone(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass


class Served:
    def __init__(self, server: uvicorn.Server, app: App, trusted: ssl.SSLContext | None) -> None:
        self.server, self.app, self._trusted = server, app, trusted
        self.port: int = server.servers[0].sockets[0].getsockname()[1]

    @property
    def num_connections(self) -> int:
        return len(self.server.server_state.connections)

    async def connect(self, address: str = "127.0.0.1") -> Connection:
        """Open a connection from an address of this machine, with TLS where the server has it."""
        return await asyncio.open_connection(
            "127.0.0.1", self.port, local_addr=(address, 0), ssl=self._trusted
        )

    async def silent(self, address: str = "127.0.0.1") -> Connection:
        """Open a connection that says nothing, not even of TLS."""
        return await asyncio.open_connection("127.0.0.1", self.port, local_addr=(address, 0))

    async def is_healthy(self) -> bool:
        reader, writer = await self.connect()
        writer.write(HEALTH)
        async with asyncio.timeout(WAIT_S):
            head = await reader.readuntil(b"\r\n\r\n")
        writer.close()
        return head.startswith(b"HTTP/1.1 200 ")

    async def until_all_closed(self) -> None:
        await until(lambda: not self.num_connections)


@asynccontextmanager
async def serving(*, pair=None, most=64, patience_s=PATIENCE_S) -> AsyncIterator[Served]:
    tls = server_tls(*pair) if pair else None
    trusted = ssl.create_default_context(cafile=str(pair[0])) if pair else None
    app = App()
    config = BoundedConfig(
        app, tls=tls, max_connections=most, patience_s=patience_s, port=0, log_level="critical"
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server._serve())
    await until(lambda: server.started)
    try:
        yield Served(server, app, trusted)
    finally:
        app.go.set()
        server.should_exit = True
        async with asyncio.timeout(WAIT_S):
            await running


@pytest.fixture(params=["http", "https"])
def pair(request: pytest.FixtureRequest) -> tuple[Path, Path] | None:
    if request.param == "http":
        return None
    found: tuple[Path, Path] = request.getfixturevalue("certificate")
    return found


@asynccontextmanager
async def dripping(writer: asyncio.StreamWriter, data: bytes) -> AsyncIterator[None]:
    """Send byte by byte, without end; nothing if there is no data."""

    async def drip() -> None:
        for byte in itertools.cycle(data):
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(PATIENCE_S / 10)

    task = asyncio.create_task(drip())
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("begin", [b"", HEALTH], ids=["first", "second"])
@pytest.mark.parametrize("rest", [b"", b"X-A: b\r\n"], ids=["silent", "drip"])
async def test_a_head_that_never_ends_is_given_up(pair, begin, rest):
    async with serving(pair=pair) as served:
        reader, writer = await served.connect()
        if begin:
            writer.write(begin)
            await reader.readuntil(b"ok")
            writer.write(b"GET")
        elif rest:
            writer.write(HEALTH[:-2])
        async with dripping(writer, rest):
            await served.until_all_closed()
        if begin and not rest:
            assert (await reader.read()).startswith(b"HTTP/1.1 408 "), "it is told"
        writer.close()


async def test_a_body_with_two_lengths_is_refused_and_nothing_behind_it_is_read() -> None:
    """A proxy may take what comes behind it for the body's rest, and we for another request."""
    async with serving(patience_s=WAIT_S) as served:
        reader, writer = await served.connect()
        chunked = UPLOAD.replace(b"Host", b"Transfer-Encoding: chunked\r\nHost")
        writer.write(chunked + b"0\r\n\r\n" + HEALTH)
        async with asyncio.timeout(WAIT_S):
            answers = await reader.read()
        assert answers.startswith(b"HTTP/1.1 400 ")
        assert answers.count(b"HTTP/1.1 ") == 1
        assert await served.is_healthy()
        writer.close()


@pytest.mark.parametrize(
    "hello", [b"", b"\x16\x03\x01\x3f\xff", b"\x00"], ids=["silent", "drip", "junk"]
)
async def test_a_handshake_that_never_ends_is_given_up(certificate, hello):
    async with serving(pair=certificate) as served:
        _, writer = await served.silent()
        async with dripping(writer, hello):
            await served.until_all_closed()
        assert await served.is_healthy()
        writer.close()


async def test_a_request_that_comes_with_the_end_of_the_handshake_is_read(certificate):
    """In one packet with it, as a client of TLS 1.3 may send it."""
    async with serving(pair=certificate) as served:
        tls = ssl.create_default_context(cafile=str(certificate[0]))
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = tls.wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
        reader, writer = await served.silent()
        while True:
            try:
                client.do_handshake()
                break
            except ssl.SSLWantReadError:
                writer.write(outgoing.read())
                incoming.write(await reader.read(65_536))
        client.write(HEALTH)
        writer.write(outgoing.read())
        answer = b""
        async with asyncio.timeout(WAIT_S):
            while b"ok" not in answer:
                try:
                    answer += client.read(65_536)
                except ssl.SSLWantReadError:
                    incoming.write(await reader.read(65_536))
        writer.close()


async def test_an_answer_that_nobody_reads_is_given_up(pair: tuple[Path, Path] | None) -> None:
    async with serving(pair=pair) as served:
        reader, writer = await served.connect()
        writer.write(ENDLESS)
        reader._transport.pause_reading()
        await writer.drain()
        await until(lambda: served.num_connections == 1)
        await served.until_all_closed()
        writer.transport.abort()


async def send_half_a_body(served: Served, address: str) -> Connection:
    reader, writer = await served.connect(address)
    writer.write(UPLOAD + b"x")
    return reader, writer


async def ask_once(served: Served, address: str) -> Connection:
    reader, writer = await served.connect(address)
    writer.write(HEALTH)
    await reader.readuntil(b"ok")
    return reader, writer


@pytest.mark.parametrize("spread", [1, 40], ids=["one address", "many addresses"])
@pytest.mark.parametrize("hold", [Served.silent, send_half_a_body, ask_once])
async def test_however_many_wait_others_are_served(pair, hold, spread):
    async with serving(pair=pair, most=16, patience_s=WAIT_S) as served:
        reader, writer = await served.connect()
        writer.write(LONG)
        held = [await hold(served, f"127.0.0.{2 + n % spread}") for n in range(40)]
        assert await served.is_healthy()
        assert served.num_connections <= 16
        served.app.go.set()
        assert b"ok" in await reader.readuntil(b"ok"), "what is being answered is kept"
        for _, other in [*held, (reader, writer)]:
            other.transport.abort()
        await served.until_all_closed()


async def test_whoever_opens_many_connections_loses_their_own() -> None:
    async with serving(most=8, patience_s=WAIT_S) as served:
        quiet = [await served.silent(f"127.0.0.{n}") for n in (3, 4)]
        many = [await served.silent("127.0.0.2") for _ in range(20)]
        assert await served.is_healthy()
        for reader, writer in quiet:
            writer.write(HEALTH)
            assert b"ok" in await reader.readuntil(b"ok")
        for _, writer in many + quiet:
            writer.transport.abort()
        await served.until_all_closed()


async def test_where_all_are_being_answered_a_new_connection_is_refused() -> None:
    async with serving(most=2) as served:
        busy = [await served.connect() for _ in range(2)]
        for _, writer in busy:
            writer.write(LONG)
        await until(lambda: served.app.num_long == 2)
        with pytest.raises((OSError, asyncio.IncompleteReadError)):
            await served.is_healthy()
        await asyncio.sleep(2 * PATIENCE_S)  # a long answer is waited for
        served.app.go.set()
        for reader, writer in busy:
            assert b"ok" in await reader.readuntil(b"ok")
            writer.close()
        assert await served.is_healthy()


async def test_the_end_waits_for_no_handshake(certificate: tuple[Path, Path]) -> None:
    async with serving(pair=certificate, patience_s=60) as served:
        _, writer = await served.silent()
        await until(lambda: served.num_connections == 1)
    writer.close()


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="limits of open files")
def test_half_of_the_open_files_are_left_to_others() -> None:
    import resource

    former = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, former[1]))
        config = BoundedConfig(App(), tls=None, max_connections=512, patience_s=1)
        assert config.max_connections == 100
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, former)
