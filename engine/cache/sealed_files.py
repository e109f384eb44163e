"""Files that are used only if this user's own programs wrote them: each carries its seal."""

import logging
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from intarsia.engine.cache.seal import SEAL_BYTES, Seals

_log = logging.getLogger(__name__)


class SealedFiles:
    """The files of one folder, which is the user's alone.

    Several processes may read and write at once: a file appears whole, or not at all.
    """

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
        number, draft = tempfile.mkstemp(prefix=".unfinished-", dir=self.folder)  # mode 0600
        try:
            with os.fdopen(number, "wb") as file:
                file.write(self._seals.seal(name, content) + content)
                file.flush()
                os.fsync(file.fileno())
            Path(draft).replace(self._path(name))
        except BaseException:
            with suppress(OSError):
                Path(draft).unlink()
            raise

    def remove(self, name: str) -> None:
        """Remove a file, if it exists and may be removed."""
        with suppress(OSError):
            self._path(name).unlink()

    def is_empty(self) -> bool:
        """Tell whether there is no file."""
        return not any(self.folder.glob(f"*{self._suffix}"))

    def clear(self) -> None:
        """Remove all files."""
        for path in self.folder.glob(f"*{self._suffix}"):
            with suppress(OSError):
                path.unlink()

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{self._suffix}"
