"""Connect and say hello: the answer shows whether an engine is there and speaks our protocol.

Both say which build they are of: the client may replace an older engine.
"""

import asyncio
import functools
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

from intarsia.engine.ipc.address import Address, is_engine_alive, prepare_directory
from intarsia.engine.ipc.connection import Connection, ProtocolError, read_message, to_frame
from intarsia.engine.ipc.errors import EngineSilent, EngineUnavailable, NoEngine
from intarsia.engine.ipc.messages import (
    PROTOCOL_VERSION,
    EngineMessage,
    Hello,
    LoadProgress,
    Refused,
    Welcome,
    decode_engine_message,
)


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


HANDSHAKE_TIMEOUT_S = 10.0


async def connect(
    address: Address,
    *,
    name: str,
    on_load_progress: Callable[[LoadProgress], None] | None = None,
    timeout_s: float = HANDSHAKE_TIMEOUT_S,
) -> Connection:
    """Connect to the engine. Raises ``NoEngine``, ``EngineSilent``, ``EngineUnavailable``."""
    stream = await open_stream(address)
    try:
        async with asyncio.timeout(timeout_s):
            welcome = await _greet(stream, name, address)
    except TimeoutError as error:
        stream.writer.close()
        raise EngineSilent(_not_an_engine(address, "it does not answer")) from error
    except BaseException:
        stream.writer.close()
        raise
    return Connection(
        stream.reader, stream.writer, welcome=welcome, on_load_progress=on_load_progress
    )


async def _greet(stream: EngineStream, name: str, address: Address) -> Welcome:
    hello = Hello(protocol=PROTOCOL_VERSION, build=build_id(), client=name, token=stream.token)
    try:
        stream.writer.write(to_frame(hello))
        answer = await read_message(stream.reader, decode_engine_message)
    except ProtocolError as error:
        raise EngineUnavailable(_not_an_engine(address, str(error))) from error
    except OSError as error:
        raise NoEngine("the engine closed the connection") from error
    return _check_answer(answer, address)


def _check_answer(answer: EngineMessage | None, address: Address) -> Welcome:
    if answer is None:
        raise NoEngine("the engine closed the connection")
    if not isinstance(answer, Welcome | Refused):
        greeting = type(answer).__name__
        raise EngineUnavailable(_not_an_engine(address, f"it greets with {greeting}"))
    if answer.protocol != PROTOCOL_VERSION:
        raise EngineUnavailable(
            f"the running engine (build {answer.build}) speaks protocol {answer.protocol}, this "
            f"client (build {build_id()}) protocol {PROTOCOL_VERSION}: run `intarsia stop`, then "
            "try again"
        )
    if isinstance(answer, Refused):
        raise EngineUnavailable(f"the engine refused this client: {answer.message}")
    return answer


def _not_an_engine(address: Address, why: str) -> str:
    place = address.socket_path if address.transport == "unix" else address.port_path
    return (
        f"the program that listens at {place} is not an intarsia engine, or it hangs ({why}): "
        "run `intarsia stop`, end that program, or set INTARSIA_RUNTIME_DIR to another folder"
    )


@functools.cache
def build_id() -> str:
    """Return the build that this process runs, if it is called first soon after the start."""
    return build_on_disk()


def build_on_disk() -> str:
    """Return the package's version and a digest of the engine's sources, as ``0.1.0+1a2b3c4d``."""
    return f"{_package_version()}+{_source_digest()[:8]}"


def is_newer(build: str, *, than: str) -> bool:
    """Return whether a build is of a later version. The digests have no order."""
    return _release(build) > _release(than)


def _release(build: str) -> tuple[int, ...]:
    version_text, _, _ = build.partition("+")
    return tuple(int(number) for number in re.findall(r"\d{1,9}", version_text)[:3])


def _package_version() -> str:
    try:
        return version("intarsia")
    except PackageNotFoundError:
        return "0"  # a source tree that was never installed


def _source_digest() -> str:
    digest = hashlib.sha256()
    engine = Path(__file__).parent.parent
    for source in sorted(engine.rglob("*.py")):
        digest.update(source.relative_to(engine).as_posix().encode() + b"\0")
        digest.update(source.read_bytes() + b"\0")
    return digest.hexdigest()
