"""Read files that decide where the user's code goes: only if no other user may write them."""

from pathlib import Path

from intarsia.engine.cache.own_file import OwnFileError, read_own_file
from intarsia.engine.errors import ModelError

_MAX_BYTES = 256 * 1024


def read_private_file(path: Path, *, is_secret: bool) -> str:
    """Return the text of a file that only the user may write, or read too if ``is_secret``.

    Raises FileNotFoundError, and ModelError for any other file.
    """
    try:
        return read_own_file(path, is_private=is_secret, max_bytes=_MAX_BYTES)
    except OwnFileError as error:
        raise ModelError(str(error)) from error
