"""Read files that decide where the user's code goes: only if no other user may write them."""

import os
import stat
import sys
from pathlib import Path

from intarsia.engine.errors import ModelError

_MAX_BYTES = 256 * 1024


def read_private_file(path: Path, *, is_secret: bool) -> str:
    """Return the text of a file that only the user may write, or read too if ``is_secret``.

    Raises FileNotFoundError, and ModelError for any other file.
    """
    try:
        _require_private(path, path.stat(), is_secret=is_secret)  # opening a pipe would wait
        with path.open("rb") as file:
            _require_private(path, os.fstat(file.fileno()), is_secret=is_secret)
            raw = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise ModelError(f"{path} cannot be read ({reason}): make it a readable file") from error
    if len(raw) > _MAX_BYTES:
        raise ModelError(f"{path} has more than {_MAX_BYTES:,} bytes: make it shorter")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise ModelError(f"{path} is not UTF-8: save it as UTF-8") from error


def _require_private(path: Path, status: os.stat_result, *, is_secret: bool) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise ModelError(f"{path} is not a file: make it one")
    if sys.platform == "win32":
        return  # the profile folder's access list protects it
    if status.st_uid not in (os.geteuid(), 0):
        raise ModelError(f"{path} belongs to another user: make your own copy")
    mode = stat.S_IMODE(status.st_mode)
    if is_secret and mode & 0o077:
        raise ModelError(f"{path} is open to other users: run chmod 600 {path}")
    if mode & 0o022:
        raise ModelError(f"other users may write {path}: run chmod go-w {path}")
    folder = path.resolve().parent.stat()
    if folder.st_mode & 0o022 and not folder.st_mode & stat.S_ISVTX:
        raise ModelError(f"other users may write in the folder of {path}: run chmod go-w on it")
