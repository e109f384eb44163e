"""The keys that clients may present, from a file of the user's that is reloaded when it changes.

Each line is a key, or ``sha256:`` and the hexadecimal SHA-256 of one. Lines that begin with ``#``
are comments. A plain hash is enough, because keys are drawn at random and not chosen.
"""

import hashlib
import hmac
import os
import re
from dataclasses import dataclass
from pathlib import Path

from intarsia.engine.cache.own_file import OwnFileError, read_own_file

MIN_KEY_CHARS = 16
MAX_FILE_BYTES = 64 * 1024
_DIGEST = re.compile(r"sha256:([0-9a-fA-F]{64})")
_PLAIN = re.compile(r"[\x21-\x7e]+")


class KeyFileError(Exception):
    """The key file cannot be used. The message is one line: what, and what to do."""


@dataclass(frozen=True, slots=True)
class _Version:
    """What tells one version of the file from another."""

    inode: int
    num_bytes: int
    changed_ns: int


class KeyFile:
    """The keys in a file, which only its owner may read."""

    def __init__(self, path: Path) -> None:
        """Read the file. Raise KeyFileError if it is not a key file, or others may read it."""
        self._path = path
        self._version, self._digests = _load(path)

    def accepts(self, key: str) -> bool:
        """Whether this is one of the keys; the time taken tells nothing of how close it is.

        Raises KeyFileError if the file has changed and is no longer usable: no key is valid then.
        """
        if self._version != _version(_stat(self._path)):
            self._version, self._digests = _load(self._path)
        presented = hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
        is_known = False
        for digest in self._digests:
            is_known |= hmac.compare_digest(presented, digest)
        return is_known


def _load(path: Path) -> tuple[_Version, tuple[bytes, ...]]:
    version = _version(_stat(path))
    try:
        text = read_own_file(path, is_private=True, max_bytes=MAX_FILE_BYTES)
    except FileNotFoundError as error:
        raise KeyFileError(f"{path} cannot be read ({error.strerror}): correct that") from error
    except OwnFileError as error:
        raise KeyFileError(str(error)) from error
    return version, _digests(path, text)


def _stat(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError as error:
        raise KeyFileError(f"{path} cannot be read ({error.strerror}): correct that") from error


def _version(status: os.stat_result) -> _Version:
    return _Version(status.st_ino, status.st_size, status.st_mtime_ns)


def _digests(path: Path, text: str) -> tuple[bytes, ...]:
    digests = []
    for number, line in enumerate(text.splitlines(), start=1):
        word = line.strip()
        if not word or word.startswith("#"):
            continue
        hashed = _DIGEST.fullmatch(word)
        if hashed is not None:
            digests.append(bytes.fromhex(hashed[1]))
        elif _PLAIN.fullmatch(word) and len(word) >= MIN_KEY_CHARS:
            digests.append(hashlib.sha256(word.encode()).digest())
        else:
            raise KeyFileError(
                f"{path}, line {number} is no key: give {MIN_KEY_CHARS} or more characters without "
                "blanks, as `openssl rand -hex 32` prints them"
            )
    if not digests:
        raise KeyFileError(f"{path} has no key: put in what `openssl rand -hex 32` prints")
    return tuple(digests)
