"""The keys by which a server knows who asks: a file, one key a line.

A key is random and long, so a plain digest of it keeps it secret. The file is read again whenever
it changes: a key that is taken out is refused from then on. A team's file has names and digests,
and no secret: others may read it.
"""

import errno
import hashlib
import hmac
import logging
import os
import re
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from intarsia.engine.cache.own_file import OwnFileError, read_own_file

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_LINE = re.compile(rf"({_NAME.pattern})\s+sha256:([0-9a-f]{{64}})")
_MAX_BYTES = 4_000_000
_PREFIX = "intarsia-"  # so that scanners for secrets can know one

ParseKeys: TypeAlias = Callable[[str, Path], Mapping[str, bytes]]
"""Returns the digests in a text, each by the name of its key. Raises KeyFileError."""

_log = logging.getLogger(__name__)


class KeyFileError(Exception):
    """The file of keys cannot be used. One line says why, and what to do."""


def new_key() -> str:
    """Return a key for a user: 256 random bits."""
    return _PREFIX + secrets.token_urlsafe(32)


def line_of(name: str, key: str) -> str:
    """Return the line of a user for the file of keys. Raises KeyFileError for a bad name."""
    if _NAME.fullmatch(name) is None:
        raise KeyFileError(
            f"{name!r} cannot name a user: take up to 64 letters, digits and any of . _ @ -"
        )
    return f"{name} sha256:{_digest(key).hex()}\n"


def add_user(path: Path, name: str) -> str:
    """Make a key for a user, add its digest to the file, and return the key.

    A missing file is made, for its owner alone. The line goes to the end of the file itself, in one
    step: so its owner and mode stay, a container that has the file sees it, and of two keys that
    are made at once none is lost. Raises KeyFileError, and OSError where it cannot be written:
    then what was in the file is as before.
    """
    key = new_key()
    line = line_of(name, key)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "r+b", buffering=0) as file:
        if not os.fstat(descriptor).st_mode & 0o222:  # root could write it all the same
            raise PermissionError(errno.EACCES, "it is read-only", str(path))
        text = _text_of(path, is_private=False, max_bytes=_MAX_BYTES)
        users = _users_in(text, path)
        if name in users:
            raise KeyFileError(f"{name} has a key already: delete the line in {path} first")
        added = line if not text or text.endswith("\n") else "\n" + line
        if len((text + added).encode()) > _MAX_BYTES:
            raise KeyFileError(f"{path} would have more than {_MAX_BYTES:,} bytes: make it shorter")
        before = file.seek(0, os.SEEK_END)
        if file.write(added.encode()) != len(added):
            file.truncate(before)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if TeamKeys(path).user_of(key) != name:
        raise KeyFileError(f"{path} was changed at the same time: look whether {name} is in it")
    return key


class KeyFile:
    """The digests of a file of keys. Raises KeyFileError if it cannot be read at the start."""

    def __init__(self, path: Path, parse: ParseKeys, *, is_private: bool, max_bytes: int) -> None:
        self._path = path
        self._parse = parse
        self._is_private = is_private
        self._max_bytes = max_bytes
        self._version, self._digests = self._load()

    def name_of(self, key: str) -> str | None:
        """Return the name of a key, None if it is not in the file.

        It takes as long whichever key it is, and for a wrong one too. Raises KeyFileError while the
        file has changed and cannot be read: then no key counts.
        """
        if self._version != _version_of(self._path):
            self._version, self._digests = self._load()
            _log.info("read %d keys", len(self._digests))
        digest, found = _digest(key), None
        for name, other in self._digests.items():
            if hmac.compare_digest(digest, other):
                found = name
        return found

    def _load(self) -> tuple[tuple[int, int, int], Mapping[str, bytes]]:
        version = _version_of(self._path)
        text = _text_of(self._path, is_private=self._is_private, max_bytes=self._max_bytes)
        return version, self._parse(text, self._path)


class TeamKeys:
    """The users of a file of keys. Raises KeyFileError if it cannot be read at the start."""

    def __init__(self, path: Path) -> None:
        self._keys = KeyFile(path, _users_in, is_private=False, max_bytes=_MAX_BYTES)
        self._is_readable = True

    def user_of(self, key: str) -> str | None:
        """Return the name of the user with this key; None while the file cannot be read."""
        try:
            user = self._keys.name_of(key)
        except KeyFileError as error:
            if self._is_readable:
                _log.error("all keys are refused: %s", error)
            self._is_readable = False
            return None
        self._is_readable = True
        return user


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()


def _version_of(path: Path) -> tuple[int, int, int]:
    """Return what changes with the file."""
    try:
        status = path.stat()
    except OSError as error:
        raise KeyFileError(f"{path} cannot be read ({error.strerror}): correct that") from error
    return status.st_mtime_ns, status.st_size, status.st_ino


def _text_of(path: Path, *, is_private: bool, max_bytes: int) -> str:
    try:
        return read_own_file(path, is_private=is_private, max_bytes=max_bytes)
    except FileNotFoundError as error:
        raise KeyFileError(f"{path} cannot be read ({error.strerror}): correct that") from error
    except OwnFileError as error:
        raise KeyFileError(str(error)) from error


def _users_in(text: str, path: Path) -> dict[str, bytes]:
    users: dict[str, bytes] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        found = _LINE.fullmatch(line.strip())
        if found is None:
            raise KeyFileError(f"{path}, line {number}: write NAME sha256:DIGEST")
        if found[1] in users:
            raise KeyFileError(f"{path}, line {number}: {found[1]} has a key already")
        users[found[1]] = bytes.fromhex(found[2])
    return users
