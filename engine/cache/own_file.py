"""Read and write files that must be the user's alone, such as a key or a list of servers."""

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
