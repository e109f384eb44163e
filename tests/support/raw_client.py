"""A client that sends any messages or bytes over the real socket, well-formed or not."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.connection import read_message, to_frame
from intarsia.engine.ipc.handshake import EngineStream, open_stream
from intarsia.engine.ipc.messages import (
    PROTOCOL_VERSION,
    ClientMessage,
    EngineMessage,
    Hello,
    Welcome,
    decode_engine_message,
)

PATIENCE_S = 20.0


class RawClient:
    """Sends without any check; ``token`` is the one of the engine's port file."""

    def __init__(self, stream: EngineStream) -> None:
        self._stream = stream
        self.token = stream.token

    def send(self, message: ClientMessage) -> None:
        self._stream.writer.write(to_frame(message))

    def send_bytes(self, data: bytes) -> None:
        self._stream.writer.write(data)

    async def receive(self) -> EngineMessage | None:
        """Return the next message, None if the engine has closed the connection."""
        async with asyncio.timeout(PATIENCE_S):
            try:
                return await read_message(self._stream.reader, decode_engine_message)
            except ConnectionError:
                return None

    async def greet(self, protocol: int = PROTOCOL_VERSION) -> EngineMessage | None:
        self.send(Hello(protocol=protocol, build="test", client="raw", token=self.token))
        return await self.receive()

    async def close(self) -> None:
        self._stream.writer.close()
        with contextlib.suppress(ConnectionError):
            await self._stream.writer.wait_closed()


@contextlib.asynccontextmanager
async def raw_client(address: Address) -> AsyncIterator[RawClient]:
    client = RawClient(await open_stream(address))
    try:
        yield client
    finally:
        await client.close()


@contextlib.asynccontextmanager
async def greeted_client(address: Address) -> AsyncIterator[RawClient]:
    """Connect, and say hello as a client of this protocol."""
    async with raw_client(address) as client:
        assert isinstance(await client.greet(), Welcome)
        yield client
