"""The place where clients find the user's one engine: a folder of the user's own, and its files.

``INTARSIA_RUNTIME_DIR`` names another folder, for the log too; ``INTARSIA_LOG_DIR`` names one for
the log only. ``INTARSIA_TRANSPORT`` (``unix`` or ``tcp``) sets how to connect. Knows no messages.
"""

import contextlib
import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import filelock
import platformdirs

from intarsia.engine.ipc.errors import EngineUnavailable
from intarsia.engine.ipc.ownership import make_own_folder, weakness_of

Transport: TypeAlias = Literal["unix", "tcp"]

MAX_SOCKET_PATH_BYTES = 103
"""The limit of macOS and the BSDs without the final zero; Linux allows four bytes more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """The files by which clients and the engine find each other."""

    directory: Path  # 0700, the user's own
    log_directory: Path
    transport: Transport

    @property
    def socket_path(self) -> Path:
        return self.directory / "engine.sock"

    @property
    def port_path(self) -> Path:
        """Port and token of an engine that listens on loopback TCP."""
        return self.directory / "engine.port"

    @property
    def engine_lock_path(self) -> Path:
        """Held by the engine for as long as it lives."""
        return self.directory / "engine.lock"

    @property
    def pid_path(self) -> Path:
        """The engine's process id; valid while the engine's lock is held."""
        return self.directory / "engine.pid"

    @property
    def launch_lock_path(self) -> Path:
        """Held by the client that starts an engine."""
        return self.directory / "launch.lock"

    @property
    def log_path(self) -> Path:
        return self.log_directory / "engine.log"

    def as_environment(self) -> dict[str, str]:
        """Return the variables by which a child process finds the same address."""
        return {
            "INTARSIA_RUNTIME_DIR": str(self.directory),
            "INTARSIA_LOG_DIR": str(self.log_directory),
            "INTARSIA_TRANSPORT": self.transport,
        }


def resolve_address(environment: Mapping[str, str] | None = None) -> Address:
    """Return the engine's address for this user. Creates nothing. Raises ``EngineUnavailable``."""
    variables = os.environ if environment is None else environment
    directory = _runtime_directory(variables)
    transport = _transport(variables)
    if transport == "unix":
        _check_length(directory / "engine.sock")
    return Address(
        directory=directory,
        log_directory=_log_directory(variables),
        transport=transport,
    )


def prepare_directory(directory: Path) -> None:
    """Make the folder if missing. Raises ``EngineUnavailable`` unless it is the user's alone."""
    try:
        make_own_folder(directory)
        problem = _problem_of(directory)
    except OSError as error:
        raise EngineUnavailable(
            f"cannot create the folder {directory} ({error.strerror}): "
            "set INTARSIA_RUNTIME_DIR to a folder of your own"
        ) from error
    if problem is not None:
        raise EngineUnavailable(
            f"{problem}: make {directory} a folder of your own with mode 0700, "
            "or set INTARSIA_RUNTIME_DIR"
        )


def _problem_of(directory: Path) -> str | None:
    """Return what is wrong with a folder's kind, owner or mode, or those of the path to it."""
    status = directory.lstat()
    if not stat.S_ISDIR(status.st_mode):
        return f"{directory} is not a folder (or is a link to one)"
    if sys.platform != "win32" and status.st_uid != os.geteuid():
        return f"{directory} belongs to another user"
    weakness = weakness_of(directory, is_private=True)
    return None if weakness is None else str(weakness)


def _transport(variables: Mapping[str, str]) -> Transport:
    default = "tcp" if sys.platform == "win32" else "unix"
    name = variables.get("INTARSIA_TRANSPORT") or default
    for transport in get_args(Transport):
        if name == transport:
            return transport  # type: ignore[no-any-return]
    raise EngineUnavailable(f"INTARSIA_TRANSPORT is {name!r}: set it to unix or tcp, or unset it")


def _runtime_directory(variables: Mapping[str, str]) -> Path:
    if override := variables.get("INTARSIA_RUNTIME_DIR"):
        return Path(override).absolute()
    if sys.platform in ("win32", "darwin"):
        return platformdirs.user_runtime_path("intarsia", appauthor=False)
    for candidate in (variables.get("XDG_RUNTIME_DIR"), f"/run/user/{os.geteuid()}"):
        if candidate and _is_own_directory(Path(candidate)):
            return Path(candidate) / "intarsia"
    return Path(tempfile.gettempdir()) / f"intarsia-{os.geteuid()}"


def _is_own_directory(path: Path) -> bool:
    try:
        return path.is_absolute() and _problem_of(path) is None
    except OSError:
        return False


def _log_directory(variables: Mapping[str, str]) -> Path:
    override = variables.get("INTARSIA_LOG_DIR") or variables.get("INTARSIA_RUNTIME_DIR")
    if override:
        return Path(override).absolute()
    return platformdirs.user_log_path("intarsia", appauthor=False)


def _check_length(socket_path: Path) -> None:
    length = len(os.fsencode(socket_path))
    if length > MAX_SOCKET_PATH_BYTES:
        raise EngineUnavailable(
            f"the socket's path has {length} bytes, {MAX_SOCKET_PATH_BYTES} are allowed: "
            f"set INTARSIA_RUNTIME_DIR to a shorter folder than {socket_path.parent}"
        )


def is_engine_alive(address: Address) -> bool:
    """Return whether a process holds the engine's lock. Raises ``EngineUnavailable``."""
    try:
        with (
            plain_lock_faults(address),
            filelock.FileLock(address.engine_lock_path).acquire(blocking=False),
        ):
            return False
    except filelock.Timeout:
        return True


def remove_stale_port(address: Address) -> None:
    """Remove the port file of an engine that ended: its port may be another program's by now.

    Raises ``EngineUnavailable``.
    """
    with (
        contextlib.suppress(filelock.Timeout),  # an engine is alive
        plain_lock_faults(address),
        filelock.FileLock(address.engine_lock_path).acquire(blocking=False),
    ):
        address.port_path.unlink(missing_ok=True)


@contextlib.contextmanager
def plain_lock_faults(address: Address) -> Iterator[None]:
    """Raise EngineUnavailable where the folder's disk can lock no files, as on some networks."""
    try:
        yield
    except filelock.Timeout:
        raise
    except OSError as error:
        raise EngineUnavailable(
            f"cannot lock a file in {address.directory} ({error.strerror}): "
            "set INTARSIA_RUNTIME_DIR to a folder on a disk of this machine"
        ) from error
