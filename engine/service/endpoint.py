"""Claims an address as its only engine and listens there for clients. Knows no messages."""

import asyncio
import contextlib
import os
import socket
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import filelock
import msgspec

from intarsia.engine.ipc.address import Address, plain_lock_faults, prepare_directory
from intarsia.engine.ipc.errors import EngineUnavailable
from intarsia.engine.ipc.handshake import PortFile

Accept: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]

_LOCK_POLL_S = 0.05
_PROBE_TIMEOUT_S = 1.0


class AddressInUse(Exception):
    """Another program, or an engine that does not answer, has the address."""


class AlreadyRunning(Exception):
    """Another engine answers at the address."""


@contextlib.contextmanager
def hold_address(address: Address, *, patience_s: float = 10.0) -> Iterator[None]:
    """Be the one engine of this address; wait up to ``patience_s`` for one that is just ending.

    The system frees the lock however a process ends. So a socket that is there while we hold the
    lock is stale, or belongs to another program. Raises ``AlreadyRunning`` or ``AddressInUse``.
    """
    prepare_directory(address.directory)
    lock = _acquire_lock(address, patience_s)
    try:
        address.pid_path.write_text(str(os.getpid()))
        _remove_stale_socket(address)
        yield
    finally:
        if is_ours(address):
            address.pid_path.unlink(missing_ok=True)
        lock.release()


def is_ours(address: Address) -> bool:
    """Return whether the address is still ours: its folder may be another engine's by now."""
    try:
        return address.pid_path.read_text() == str(os.getpid())
    except FileNotFoundError:
        return False
    except OSError:
        return True  # such as too many open files: nothing tells otherwise


class Listener:
    """The server at an address, for this user only. Use it within ``hold_address``."""

    def __init__(self, address: Address, token: str, accept: Accept) -> None:
        self._address = address
        self._token = token
        self._accept = accept
        self._server: asyncio.Server | None = None

    async def listen(self) -> None:
        """Accept clients of this user only, by file modes or the token.

        It may be called again, after someone has removed the socket. Raises ``EngineUnavailable``
        or OSError.
        """
        self._close()
        if self._address.transport == "tcp":
            self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
            port = self._server.sockets[0].getsockname()[1]
            content = msgspec.json.encode(PortFile(port=port, token=self._token))
            _write_private(self._address.port_path, content)
        else:
            bound = _bound_socket(self._address)
            self._server = await asyncio.start_unix_server(self._accept, sock=bound)

    def is_reachable(self) -> bool:
        """Return whether clients can still find the socket, or the port's file."""
        return os.path.lexists(_meeting_point(self._address))

    def stop(self) -> None:
        """Accept no more clients; those that are connected stay."""
        self._close()
        if is_ours(self._address):
            _meeting_point(self._address).unlink(missing_ok=True)

    def _close(self) -> None:
        if self._server is not None:
            self._server.close()


def _meeting_point(address: Address) -> Path:
    return address.port_path if address.transport == "tcp" else address.socket_path


def _bound_socket(address: Address) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(str(address.socket_path))
        address.socket_path.chmod(0o600)  # before anyone can connect
    except OSError as error:
        listener.close()
        raise EngineUnavailable(
            f"cannot make a socket in {address.directory} ({error.strerror}): set "
            "INTARSIA_RUNTIME_DIR to a folder on a disk of this machine, or INTARSIA_TRANSPORT=tcp"
        ) from error
    return listener


def _acquire_lock(address: Address, patience_s: float) -> filelock.BaseFileLock:
    lock = filelock.FileLock(address.engine_lock_path)
    deadline = time.monotonic() + patience_s
    while True:
        with contextlib.suppress(filelock.Timeout), plain_lock_faults(address):
            lock.acquire(blocking=False)
            return lock
        if _is_answered(address):
            raise AlreadyRunning("an engine is running already: `intarsia status` shows it")
        if time.monotonic() > deadline:
            raise AddressInUse("another engine runs but does not answer: run `intarsia stop`")
        time.sleep(_LOCK_POLL_S)


def _remove_stale_socket(address: Address) -> None:
    address.port_path.unlink(missing_ok=True)
    path = address.socket_path
    if address.transport != "unix" or not os.path.lexists(path):
        return
    if not stat.S_ISSOCK(path.lstat().st_mode):
        raise AddressInUse(f"{path} is not a socket: move it away")
    if _is_answered(address):
        raise AddressInUse(
            f"{path} is in use by a program that is not an intarsia engine: "
            "end it, or set INTARSIA_RUNTIME_DIR to another folder"
        )
    path.unlink()


def _is_answered(address: Address) -> bool:
    try:
        family = socket.AF_INET if address.transport == "tcp" else socket.AF_UNIX
        with socket.socket(family) as probe:
            probe.settimeout(_PROBE_TIMEOUT_S)
            probe.connect(_target(address))
    except TimeoutError:
        return True  # a program listens, and is too busy to accept
    except (OSError, msgspec.DecodeError):
        return False
    return True


def _target(address: Address) -> str | tuple[str, int]:
    if address.transport == "unix":
        return str(address.socket_path)
    return "127.0.0.1", msgspec.json.decode(address.port_path.read_bytes(), type=PortFile).port


def _write_private(path: Path, data: bytes) -> None:
    """Write a file of mode 0600 that readers see complete or not at all."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    draft.replace(path)
