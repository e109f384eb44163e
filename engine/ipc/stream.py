"""Open a stream to the engine's address: a unix socket, or loopback TCP with a token.

Address in, reader, writer and token out. Who is at the other end shows in the handshake.
"""

import asyncio
from dataclasses import dataclass

import msgspec

from intarsia.engine.ipc.address import Address, prepare_directory
from intarsia.engine.ipc.errors import EngineUnavailable, NoEngine
from intarsia.engine.ipc.liveness import is_engine_alive


class PortFile(msgspec.Struct, frozen=True, kw_only=True):
    """What an engine on loopback TCP writes for its clients, readable by the user alone."""

    port: int
    token: str


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineStream:
    """A stream to whoever listens at the engine's address."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    token: str


async def open_stream(address: Address) -> EngineStream:
    """Connect. Raises ``NoEngine`` where nobody listens."""
    prepare_directory(address.directory)  # never send code into a folder that is not the user's
    try:
        if address.transport == "tcp":
            return await _open_tcp(address)
        reader, writer = await asyncio.open_unix_connection(address.socket_path)
    except (FileNotFoundError, ConnectionError) as error:
        raise NoEngine("no engine is running") from error
    except OSError as error:
        raise EngineUnavailable(
            f"cannot connect to the engine at {address.socket_path} ({error.strerror}): "
            "run `intarsia stop`, or set INTARSIA_RUNTIME_DIR to another folder"
        ) from error
    return EngineStream(reader=reader, writer=writer, token="")


async def _open_tcp(address: Address) -> EngineStream:
    if not is_engine_alive(address):
        # The port of a dead engine may have gone to any program, another user's included.
        raise NoEngine("no engine is running")
    try:
        found = msgspec.json.decode(address.port_path.read_bytes(), type=PortFile)
    except msgspec.DecodeError as error:
        raise NoEngine("no engine is running (its port file is damaged)") from error
    reader, writer = await asyncio.open_connection("127.0.0.1", found.port)
    return EngineStream(reader=reader, writer=writer, token=found.token)
