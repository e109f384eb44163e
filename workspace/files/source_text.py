"""Reads the text of one source file, or says why it is not read.

Links are not followed, and only regular files are opened: a named pipe would wait for ever.
"""

import os
import stat
from dataclasses import dataclass

from intarsia.workspace.files.generated import is_generated_text, is_minified

MAX_FILE_BYTES = 512 * 1024
"""Larger files are data, or too long to be worth their time."""

_TOO_LARGE = "larger than the limit"
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_MARKED = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    b"\xef\xbb\xbf": "utf-8-sig",
}
_CONTROLS = frozenset({*range(0x20)} - {*b"\t\n\r\f\v\x1b\b"})


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceText:
    """The text of a file, with the size and time of exactly the version that was read."""

    text: str
    num_bytes: int
    mtime_ns: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NotRead:
    """Why a file is not read; size and time are 0 where there is no such file."""

    reason: str
    num_bytes: int = 0
    mtime_ns: int = 0


def read_source(path: str) -> SourceText | NotRead:
    """Return the text of a file; never fails. Line ends stay as they are."""
    try:
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError) as error:
        return NotRead(reason=f"cannot be opened: {getattr(error, 'strerror', None) or error}")
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return _not_read("not a regular file", status)
        if status.st_size > MAX_FILE_BYTES:
            return _not_read(_TOO_LARGE, status)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            reason, text = _decoded(file.read(MAX_FILE_BYTES + 1))
    except OSError as error:
        return NotRead(reason=f"cannot be read: {error.strerror}")
    finally:
        os.close(descriptor)
    if text is None:
        return _not_read(reason, status)
    return SourceText(text=text, num_bytes=status.st_size, mtime_ns=status.st_mtime_ns)


def why_not_source(text: str) -> str | None:
    """Return why a text is not worth reading as source code, None if it is."""
    if len(text) > MAX_FILE_BYTES:
        return _TOO_LARGE
    if is_minified(text):
        return "minified"
    return "generated" if is_generated_text(text) else None


def _not_read(reason: str, status: os.stat_result) -> NotRead:
    return NotRead(reason=reason, num_bytes=status.st_size, mtime_ns=status.st_mtime_ns)


def _decoded(data: bytes) -> tuple[str, str | None]:
    """Return why there is no text, or an empty reason and the text."""
    if len(data) > MAX_FILE_BYTES:
        return _TOO_LARGE, None
    mark = next((mark for mark in _MARKED if data.startswith(mark)), None)
    if mark is None and not _CONTROLS.isdisjoint(data):
        return "binary", None
    try:
        return "", data.decode(_MARKED[mark] if mark else "utf-8")
    except UnicodeDecodeError:
        return "not UTF-8", None
