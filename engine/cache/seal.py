"""Seal what the engine keeps, with a key of the user's: who lacks the key cannot forge a seal.

A seal is a keyed digest (HMAC-SHA256). It shows that this user's own programs wrote some bytes, and
that no bit has changed since. The key never leaves the machine. Without it, or with another one,
what was sealed is made again.
"""

import hmac
import logging
import secrets
from contextlib import suppress
from pathlib import Path

from filelock import FileLock

from intarsia.engine.cache.folder import cache_folder
from intarsia.engine.cache.own_file import write_own_file
from intarsia.engine.ipc.ownership import data_folder, make_own_folder, weakness_of

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
        """Tell whether this is the seal of the content under this name."""
        return hmac.compare_digest(seal, self.seal(name, content))


def open_seals() -> Seals | None:
    """Return the seals of this user's key, made if need be; None where no folder can keep it."""
    for folder in (data_folder(), cache_folder()):
        with suppress(OSError, NotImplementedError):  # read-only, or without locks
            return Seals(_key_in(folder))
    _log.warning("no key can be kept in %s: what is compiled is not kept either", data_folder())
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
        _log.warning("%s is damaged, or was not written here: it is made again", path)
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
