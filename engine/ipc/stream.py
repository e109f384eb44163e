"""Open a stream to the engine's address: a unix socket, or loopback TCP with a token.

The handshake shows whether an engine is at the other end.
"""

import asyncio
from dataclasses import dataclass

import msgspec

from intarsia.engine.ipc.address import Address, prepare_directory
from intarsia.engine.ipc.errors import EngineUnavailable, NoEngine
from intarsia.engine.ipc.liveness import is_engine_alive


class PortFile(msgspec.Struct, frozen=True, kw_only=True):
    """The content of an engine's port file on loopback TCP; only the user can read it."""

    port: int
    token: str


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineStream:
    """A stream to the program that listens at the engine's address."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    token: str


async def open_stream(address: Address) -> EngineStream:
    """Connect. Raises ``NoEngine`` if no program listens, or ``EngineUnavailable``."""
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
        port_file = msgspec.json.decode(address.port_path.read_bytes(), type=PortFile)
    except msgspec.DecodeError as error:
        raise NoEngine("no engine is running (its port file is damaged)") from error
    reader, writer = await asyncio.open_connection("127.0.0.1", port_file.port)
    return EngineStream(reader=reader, writer=writer, token=port_file.token)
