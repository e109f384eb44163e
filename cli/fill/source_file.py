"""Read a file as text and write it back, byte for byte the same except for the fills.

The byte order mark, line ends, mode and owner are kept. Knows nothing of holes.
"""

import os
import stat
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from intarsia.cli.errors import CliError, ExitCode
from intarsia.workspace.files.exclusion import SECRETS, excluding_pattern_on_disk

MAX_FILE_BYTES = 64 * 1024 * 1024

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceFile:
    """A file that was read. ``path`` None: standard input.

    ``text`` has the original line ends and no byte order mark.
    """

    path: Path | None
    data: bytes
    text: str

    @property
    def name(self) -> str:
        return "standard input" if self.path is None else str(self.path)

    def encode(self, text: str) -> bytes:
        mark = _BYTE_ORDER_MARK if self.data.startswith(_BYTE_ORDER_MARK) else b""
        return mark + text.encode("utf-8")


def read_source(path: Path) -> SourceFile:
    """Read a file; ``-`` is standard input.

    Raise CliError if it is not text in UTF-8, no regular file, or named as a secret.
    """
    if path == Path("-"):
        return _decode(None, _read_limited(sys.stdin.buffer, "standard input"))
    _refuse_secret(path)
    try:
        with open(path, "rb", opener=_open) as stream:
            _require_regular(path, os.fstat(stream.fileno()).st_mode)
            return _decode(path, _read_limited(stream, str(path)))
    except (OSError, ValueError) as error:
        raise CliError(f"cannot read {path}: {_in_plain_words(error)}") from error


def _refuse_secret(path: Path) -> None:
    pattern = excluding_pattern_on_disk(path.absolute(), SECRETS)
    if pattern is not None:
        raise CliError(
            f"{path} is not read: it is named like a secret, or links to one ({pattern}); "
            "give another file, or its text on standard input",
            ExitCode.NOTHING,
        )


def _open(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # a pipe would wait for a writer


def _require_regular(path: Path, mode: int) -> None:
    if stat.S_ISFIFO(mode):
        raise CliError(f"{path} is a pipe: give `-`, and its text on standard input")
    if not stat.S_ISREG(mode):
        raise CliError(f"{path} is not a file but a device or a socket: give a text file")


def require_writable(source: SourceFile) -> None:
    """Raise CliError if a fill could not be written back. Called before any work is done."""
    if source.path is None:
        raise CliError("standard input cannot be written back: give a file, or leave out --write")
    if not stat.S_ISREG(source.path.stat().st_mode):
        raise CliError(f"{source.path} is not a regular file: leave out --write")
    # The superuser may write anywhere, but a file without a write bit is meant to be kept.
    if not source.path.stat().st_mode & 0o222 or not os.access(source.path, os.W_OK):
        raise _not_written(source.path, "it is read-only: make it writable, or leave out --write")


def write_source(source: SourceFile, text: str) -> None:
    """Replace the file in one step. Raise CliError if it changed since it was read."""
    assert source.path is not None, "require_writable comes first"
    target = source.path.resolve()  # a link stays a link
    try:
        _replace(target, source, source.encode(text))
    except OSError as error:
        reason = error.strerror or str(error)
        raise _not_written(source.path, f"{reason}; check the folder and the disk") from error


def _replace(target: Path, source: SourceFile, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    fresh = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        _copy_owner_and_mode(target, fresh)
        if target.read_bytes() != source.data:
            raise _not_written(target, "it changed in the meantime: run the fill again")
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)


def _copy_owner_and_mode(target: Path, fresh: Path) -> None:
    found = target.stat()
    if sys.platform != "win32" and (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()):
        os.chown(fresh, found.st_uid, found.st_gid)
    fresh.chmod(stat.S_IMODE(found.st_mode))


def _read_limited(stream: BinaryIO, name: str) -> bytes:
    data = stream.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise CliError(
            f"{name} is too large: the limit is {MAX_FILE_BYTES // 2**20} MiB; give a smaller file"
        )
    return data


def _decode(path: Path | None, data: bytes) -> SourceFile:
    name = "standard input" if path is None else path
    if b"\0" in data:
        raise CliError(f"{name} is a binary file (it has zero bytes): give a text file in UTF-8")
    try:
        text = data.removeprefix(_BYTE_ORDER_MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        raise CliError(
            f"{name} is not UTF-8 (byte {error.start + 1} cannot be read): convert it first"
        ) from error
    return SourceFile(path=path, data=data, text=text)


def _in_plain_words(error: OSError | ValueError) -> str:
    match error:
        case FileNotFoundError():
            return "there is no such file; check the path"
        case IsADirectoryError():
            return "it is a folder; give a file in it"
        case PermissionError():
            return "you may not read it; check its permissions"
    return f"{getattr(error, 'strerror', None) or error}; check the path"


def _not_written(path: Path, why: str) -> CliError:
    return CliError(f"{path} was not written: {why}", ExitCode.NOT_WRITTEN)
