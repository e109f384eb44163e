"""Read and write files with care: those that must be the user's alone, and those of others."""

import errno
import hashlib
import hmac
import logging
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from filelock import FileLock

from intarsia.engine.cache.folder import cache_folder
from intarsia.engine.errors import ModelError
from intarsia.engine.ipc.ownership import (
    data_folder,
    make_own_folder,
    weakness_of,
    write_own_file,
)


class OwnFileError(ModelError):
    """The file cannot be used. The message is one line: what, and what to do."""


def read_own_file(path: Path, *, is_private: bool, max_bytes: int) -> str:
    """Return the text of a file that no other user can change, or read if it ``is_private``.

    Raises FileNotFoundError, and OwnFileError for any other file.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait
            raise OwnFileError(f"{path} is not a file: name a file")
        if (weakness := weakness_of(path, is_private=is_private)) is not None:
            raise OwnFileError(f"{weakness}: {weakness.remedy}")
        with path.open("rb") as file:
            raw = file.read(max_bytes + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise OwnFileError(f"{path} cannot be read ({reason}): make it a readable file") from error
    if len(raw) > max_bytes:
        raise OwnFileError(f"{path} has more than {max_bytes:,} bytes: make it shorter")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise OwnFileError(f"{path} is not UTF-8: save it as UTF-8") from error


def sha256_of(path: Path) -> str:
    """Return a file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def has_digest(path: Path, sha256: str) -> bool:
    """Return whether the file exists and has this digest."""
    return path.is_file() and sha256_of(path) == sha256


MAX_BYTES = 16_000_000


def read_regular(path: Path, max_bytes: int = MAX_BYTES) -> str:
    """Return the text of a file that others may have put there. Raises OSError and ValueError."""
    return read_regular_bytes(path, max_bytes).decode("utf-8")


def read_regular_bytes(path: Path, max_bytes: int = MAX_BYTES) -> bytes:
    """Return the content of such a file: no pipe or device is waited for.

    Raises OSError, also for what is no file or too large.
    """
    with open(path, "rb", opener=_without_waiting) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        if status.st_size > max_bytes:
            raise OSError(errno.EFBIG, f"it is larger than {max_bytes // 1_000_000} MB", str(path))
        return file.read(max_bytes)


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


SEAL_BYTES = 32
_KEY_BYTES = 32
_KEY_NAME = "seal.key"

_log = logging.getLogger(__name__)


class Seals:
    """Makes and checks seals with one key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def seal(self, name: str, content: bytes) -> bytes:
        """Return the seal of a content under its name: moved elsewhere, it is not valid."""
        about = name.encode("utf-8", "surrogatepass")
        return hmac.digest(self._key, len(about).to_bytes(8, "big") + about + content, "sha256")

    def is_valid(self, seal: bytes, name: str, content: bytes) -> bool:
        """Return whether this is the seal of the content under this name."""
        return hmac.compare_digest(seal, self.seal(name, content))


def open_seals() -> Seals | None:
    """Return the seals of this user's key, made if need be; None where no folder can keep it."""
    for folder in (data_folder(), cache_folder()):
        with suppress(OSError, NotImplementedError):  # read-only, or without locks
            return Seals(_key_in(folder))
    _log.warning("no key can be kept in %s: compiled code is not kept either", data_folder())
    return None


def _key_in(folder: Path) -> bytes:
    """Return the key of a folder, made if need be. Raises OSError where that is not possible."""
    path = folder / _KEY_NAME
    if (key := _read(path)) is not None:
        return key
    if (weakness := make_own_folder(folder, is_private=False)) is not None:
        raise PermissionError(str(weakness))
    with FileLock(path.with_name(f"{_KEY_NAME}.lock")):
        if (key := _read(path)) is not None:  # another process has made it
            return key
        key = secrets.token_bytes(_KEY_BYTES)
        write_own_file(path, key)
    return key


def _read(path: Path) -> bytes | None:
    """Return the key in this file; None without one, or if other users could know or change it."""
    try:
        weakness = weakness_of(path, is_private=True)
        key = path.read_bytes()
    except FileNotFoundError:
        return None
    if weakness is not None or len(key) != _KEY_BYTES:
        _log.warning("%s: another key is made", weakness or f"{path} is damaged")
        return None
    return key


class SealedFiles:
    """The files of a folder of the user's alone. Each one appears whole, or not at all."""

    def __init__(self, folder: Path, seals: Seals, *, suffix: str) -> None:
        self.folder = folder
        self._seals = seals
        self._suffix = suffix

    def read(self, name: str) -> bytes | None:
        """Return a file's content, None without one. One that is damaged or foreign is removed."""
        path = self._path(name)
        try:
            raw = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            _log.warning("%s cannot be read: %s", path, error.strerror)
            return None
        seal, content = raw[:SEAL_BYTES], raw[SEAL_BYTES:]
        if self._seals.is_valid(seal, name, content):
            return content
        _log.warning("%s is damaged, or was not written here: it is rebuilt", path)
        self.remove(name)
        return None

    def write(self, name: str, content: bytes) -> None:
        """Write a whole file to the disk, or raise OSError and leave none."""
        write_own_file(self._path(name), self._seals.seal(name, content) + content)

    def remove(self, name: str) -> None:
        """Remove a file, if it exists and may be removed."""
        with suppress(OSError):
            self._path(name).unlink()

    def is_empty(self) -> bool:
        return not any(self.folder.glob(f"*{self._suffix}"))

    def clear(self) -> None:
        for path in self.folder.glob(f"*{self._suffix}"):
            with suppress(OSError):
                path.unlink()

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{self._suffix}"
