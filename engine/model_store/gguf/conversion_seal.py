"""Seal a converted model: its files decide what is suggested, so only our own are loaded.

Config and tokenizer are hashed at each load. The weights have a gigabyte: at a load it is enough
that the system has noted no change of the file since they were hashed. ``intarsia doctor`` hashes
all.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

import msgspec

from intarsia.engine.cache.digest import sha256_of
from intarsia.engine.cache.seal import SEAL_BYTES, Seals, open_seals
from intarsia.engine.ipc.ownership import weakness_of

_SEAL_NAME = "intarsia.seal"
_SMALL = ("config.json", "tokenizer.json")
_WEIGHTS = "model.safetensors"
_FILES = (*_SMALL, _WEIGHTS)


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    """What the seal covers."""

    sha256: dict[str, str]  # by file name
    weights: tuple[int, ...]  # what the system notes of the file


def seal_conversion(folder: Path, *, name: str) -> None:
    """Seal a folder that was just converted; ``name`` is what it will be called.

    Without a key nothing is written. Raises OSError.
    """
    if (seals := open_seals()) is not None:
        digests = {file: sha256_of(folder / file) for file in _FILES}
        _write(folder, name, seals, digests)


def problem_of_conversion(folder: Path, *, is_whole: bool = False) -> str | None:
    """Return why a converted folder is not to be used, None if it is fine.

    ``is_whole`` hashes the weights too. Otherwise they are hashed only if they may have changed.
    """
    try:
        return _problem(folder, is_whole=is_whole)
    except OSError as error:
        return f"{error.filename or folder} cannot be read ({error.strerror})"


def _problem(folder: Path, *, is_whole: bool) -> str | None:
    for path in (folder, *(folder / name for name in _FILES)):
        if (weakness := weakness_of(path)) is not None:
            return str(weakness)
    if sys.platform != "win32" and folder.lstat().st_uid == 0 != os.geteuid():
        return None  # root has put it there for other users, who do not have root's key
    seals = open_seals()
    if seals is None:  # then the path alone must do
        return None
    record = _read(folder, seals)
    if record is None:
        return f"{folder} was not converted here, or by an earlier version"
    names = _FILES if is_whole else _SMALL
    is_unchanged = _identity(folder / _WEIGHTS) == record.weights
    if not is_unchanged:
        names = _FILES
    for name in names:
        if sha256_of(folder / name) != record.sha256.get(name):
            return f"{folder / name} is damaged"
    if not is_unchanged:
        with suppress(OSError):  # on a read-only disk they are hashed again each time
            _write(folder, folder.name, seals, record.sha256)
    return None


def _identity(path: Path) -> tuple[int, ...]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _read(folder: Path, seals: Seals) -> _Record | None:
    """Return the record of a folder; None if it has none with a valid seal."""
    try:
        raw = (folder / _SEAL_NAME).read_bytes()
        seal, content = raw[:SEAL_BYTES], raw[SEAL_BYTES:]
        if seals.is_valid(seal, folder.name, content):
            return msgspec.json.decode(content, type=_Record)
    except (FileNotFoundError, msgspec.DecodeError):
        pass
    return None


def _write(folder: Path, name: str, seals: Seals, sha256: dict[str, str]) -> None:
    record = _Record(sha256=sha256, weights=_identity(folder / _WEIGHTS))
    content = msgspec.json.encode(record)
    draft = folder / f"{_SEAL_NAME}.{os.getpid()}"
    draft.write_bytes(seals.seal(name, content) + content)
    draft.replace(folder / _SEAL_NAME)
