"""Convert a GGUF file into a folder with fused tensors in bf16, config.json and tokenizer.json.

The tensors can be mapped into memory. The folder is written once, under a lock, sealed, and gets
its name when it is complete. Knows nothing of where the file came from.
"""

import gc
import json
import logging
import math
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from intarsia.engine.arrays import CACHE_LINE, Array, to_bfloat16
from intarsia.engine.cache.folder import (
    cache_folder,
    plain_disk_faults,
    require_own_folder,
    require_space,
)
from intarsia.engine.cache.own_file import SEAL_BYTES, Seals, open_seals, sha256_of
from intarsia.engine.cache.progress import Progress, exclusive
from intarsia.engine.ipc.ownership import weakness_of

if TYPE_CHECKING:
    from intarsia.engine.model_store.gguf.read import FusedTensor, GgufModel
    from intarsia.engine.model_store.gguf.tensors import GgufFile

FUSED_FORMAT = "intarsia-fused-1"
"""The format of our own layout, in which matrices with the same input are joined."""

_SEAL_NAME = "intarsia.seal"
_SMALL = ("config.json", "tokenizer.json")
_WEIGHTS = "model.safetensors"
_FILES = (*_SMALL, _WEIGHTS)


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    """The content that the seal covers."""

    sha256: dict[str, str]  # by file name
    weights: tuple[int, ...]  # what the system notes of the file


def seal_conversion(folder: Path, *, name: str) -> None:
    """Seal a folder that will be called ``name``; without a key, do nothing. Raises OSError."""
    if (seals := open_seals()) is not None:
        digests = {file: sha256_of(folder / file) for file in _FILES}
        _write(folder, name, seals, digests)


def problem_of_conversion(folder: Path, *, is_whole: bool = False) -> str | None:
    """Return why a converted folder is not to be used, None if it is fine: only our own are loaded.

    ``is_whole`` hashes the weights too. Otherwise, as they have a gigabyte, they are hashed only if
    the system has noted a change of the file.
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


_log = logging.getLogger(__name__)

Rows: TypeAlias = npt.NDArray[np.float32]  # (rows, in), or a whole vector
ChangeRows: TypeAlias = Callable[[str, int, Rows], Rows]
"""Takes a fused tensor's name, the number of the first row, and rows; returns the rows to write."""

CONVERSION_VERSION = 1
"""Raised whenever the written content changes: models are then converted again, to new folders."""

_FOLDER_MODE, _FILE_MODE = 0o755, 0o644  # whatever the umask: no one else writes there
_BYTES_PER_NUMBER = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversion:
    """How a family writes weights in a format of its own; a model's usual file is in bfloat16."""

    name: str  # of the format, in the folder's name
    fits: Callable[[Mapping[str, Any]], bool]  # a config; another model stays in bfloat16
    write: "Callable[[GgufModel, ChangeRows, Path, Progress], None]"


def converted_folder(key: str) -> Path:
    """Return the folder for the conversion of the GGUF file that is known by ``key``."""
    return cache_folder() / "converted" / f"{key}-v{CONVERSION_VERSION}"


def convert(
    gguf: Path,
    folder: Path,
    on_progress: Progress,
    *,
    change_for: Callable[[Mapping[str, Any]], ChangeRows] | None = None,
    conversion: Conversion | None = None,
) -> None:
    """Write ``folder`` unless it is there, sealed. Raises ModelError for a wrong file or disk.

    ``change_for`` takes the config and returns how to change the rows before they are rounded.
    """

    # Imported here, as only a conversion needs to read such files.
    from intarsia.engine.model_store.gguf.read import read_gguf_model

    def write(partial: Path) -> None:
        on_progress(f"reading {gguf.name}", None)
        model = read_gguf_model(gguf)
        change = _unchanged if change_for is None else change_for(model.config)
        require_space(partial, sum(_num_bytes(tensor) for tensor in model.tensors))
        model.tokenizer.save(str(partial / "tokenizer.json"), pretty=False)
        (partial / "config.json").write_text(json.dumps(model.config, indent=2), encoding="utf-8")
        weights = partial / _WEIGHTS
        if conversion is not None and conversion.fits(model.config):
            conversion.write(model, change, weights, on_progress)
        else:
            _write_tensors(model, change, weights, on_progress)

    make_conversion(folder, f"converts {gguf.name}", on_progress, write)


def make_conversion(
    folder: Path, work: str, on_progress: Progress, write: Callable[[Path], None]
) -> None:
    """Make ``folder`` unless it is there, sealed. Raises ModelError for a disk that is at fault.

    ``write`` fills an empty folder with config.json, tokenizer.json and model.safetensors, while
    other processes wait; ``work`` tells them for what.
    """
    with plain_disk_faults(folder.parent):
        require_own_folder(folder.parent)
        with exclusive(folder, work, on_progress):
            if (problem := problem_of_conversion(folder)) is not None:
                _remove(folder, problem)
                _make(folder, write)


def _make(folder: Path, write: Callable[[Path], None]) -> None:
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(mode=_FOLDER_MODE)
    was_collecting = gc.isenabled()
    gc.disable()  # a vocabulary is a million objects, none of them garbage: a second of the work
    try:
        write(partial)
        for file in partial.iterdir():
            file.chmod(_FILE_MODE)
        with ThreadPoolExecutor(1) as beside:
            syncing = beside.submit(_sync, partial / _WEIGHTS)
            seal_conversion(partial, name=folder.name)
            syncing.result()
        partial.rename(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    finally:
        if was_collecting:
            gc.enable()


def _sync(path: Path) -> None:
    """Bring a file to the disk, before its folder is renamed: a power cut must leave it whole."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def _remove(folder: Path, problem: str) -> None:
    """Remove a conversion that cannot be used, if there is one."""
    if not os.path.lexists(folder):
        return
    _log.warning("%s: the model is converted again", problem)
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)
    else:
        folder.unlink()


def _unchanged(tensor: str, first_row: int, rows: Rows) -> Rows:
    return rows


def _write_tensors(
    model: "GgufModel", change: ChangeRows, path: Path, on_progress: Progress
) -> None:
    tensors = model.tensors
    with path.open("wb") as file:
        listed = ((it.name, "BF16", it.shape, _num_bytes(it)) for it in tensors)
        file.write(header_of(listed, {"format": FUSED_FORMAT}))
        for index, tensor in enumerate(tensors):
            on_progress("converting the model", index / len(tensors))
            for rows in bfloat16_rows(model.source, tensor, change):
                file.write(rows.tobytes())
        on_progress("converting the model", 1.0)


def header_of(
    tensors: Iterable[tuple[str, str, tuple[int, ...], int]], metadata: Mapping[str, str]
) -> bytes:
    """Return a safetensors header for tensors in order: name, format, shape and bytes of each.

    It is padded so that the numbers begin at an aligned byte.
    """
    entries: dict[str, object] = {"__metadata__": dict(metadata)}
    end = 0
    for name, format_, shape, num_bytes in tensors:
        begin, end = end, end + num_bytes
        entries[name] = {"dtype": format_, "shape": list(shape), "data_offsets": [begin, end]}
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % CACHE_LINE)
    return len(text).to_bytes(8, "little") + text


def _num_bytes(tensor: "FusedTensor") -> int:
    return _BYTES_PER_NUMBER * math.prod(tensor.shape)


def bfloat16_rows(
    source: "GgufFile", tensor: "FusedTensor", change: ChangeRows, *, run: Any = map
) -> Iterator[Array]:
    """Yield the changed rows of a tensor, as the bits of bfloat16 numbers.

    ``run`` maps what makes a chunk over all chunks, in order, perhaps by threads.
    """

    def chunk_of(name: str, first_row: int, chunk: slice) -> Array:
        return to_bfloat16(change(tensor.name, first_row, source.rows(name, chunk)))

    chunks, first_row = [], 0
    for name in tensor.sources:
        for chunk in source.slices(name):
            chunks.append((name, first_row + chunk.start, chunk))
        first_row += source.shapes[name][0]
    yield from run(chunk_of, *zip(*chunks, strict=True))
