"""Read and write files with care: those that must be the user's alone, and those of others."""

import errno
import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from intarsia.engine.errors import ModelError
from intarsia.engine.ipc.ownership import weakness_of


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


def write_own_file(path: Path, content: bytes) -> None:
    """Write a whole file to the disk, for this user alone, or raise OSError and leave none."""
    number, draft = tempfile.mkstemp(prefix=".unfinished-", dir=path.parent)  # mode 0600
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(draft).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(draft).unlink()
        raise


def sha256_of(path: Path) -> str:
    """Return a file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def has_digest(path: Path, sha256: str) -> bool:
    """Tell whether the file exists and has this digest."""
    return path.is_file() and sha256_of(path) == sha256


MAX_BYTES = 16_000_000


def read_regular(path: Path, max_bytes: int = MAX_BYTES) -> str:
    """Return the text of a file that others may have put there: no pipe or device is waited for.

    Raises OSError for what is no file or too large, else ValueError.
    """
    with open(path, "rb", opener=_without_waiting) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        if status.st_size > max_bytes:
            raise OSError(errno.EFBIG, f"it is larger than {max_bytes // 1_000_000} MB", str(path))
        return file.read(max_bytes).decode("utf-8")


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
