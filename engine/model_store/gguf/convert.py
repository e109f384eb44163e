"""Convert a GGUF file into a folder with fused tensors in bf16, config.json and tokenizer.json.

The tensors can be mapped into memory. The folder is written once, under a lock, and gets its name
when it is complete. Knows nothing of where the file came from.
"""

import json
import logging
import math
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from intarsia.engine.cache.folder import (
    cache_folder,
    plain_disk_faults,
    require_own_folder,
    require_space,
)
from intarsia.engine.cache.progress import Progress, exclusive
from intarsia.engine.model_store.gguf.conversion_seal import problem_of_conversion, seal_conversion
from intarsia.engine.model_store.gguf.fused_layout import FUSED_FORMAT, FusedTensor
from intarsia.engine.model_store.gguf.read import GgufModel, read_gguf_model
from intarsia.engine.model_store.gguf.tensors import GgufFile

_log = logging.getLogger(__name__)

Rows: TypeAlias = npt.NDArray[np.float32]  # (rows, in), or a whole vector
ChangeRows: TypeAlias = Callable[[str, int, Rows], Rows]
"""Takes a fused tensor's name, the number of the first row, and rows; returns the rows to write."""

CONVERSION_VERSION = 1
"""Raised whenever the written content changes: models are then converted again, to new folders."""

_FOLDER_MODE, _FILE_MODE = 0o755, 0o644  # whatever the umask: no one else writes there
_ALIGNMENT = 64  # bytes: a cache line, and a whole vector register
_BYTES_PER_NUMBER = 2


def converted_folder(key: str) -> Path:
    """Return the folder for the conversion of the GGUF file that is known by ``key``."""
    return cache_folder() / "converted" / f"{key}-v{CONVERSION_VERSION}"


def convert(
    gguf: Path,
    folder: Path,
    on_progress: Progress,
    *,
    change_for: Callable[[Mapping[str, Any]], ChangeRows] | None = None,
) -> None:
    """Write ``folder`` unless it is there, sealed. Raises ModelError for a wrong file or disk.

    ``change_for`` takes the config and returns how to change the rows before they are rounded.
    """
    with plain_disk_faults(folder.parent):
        require_own_folder(folder.parent)
        with exclusive(folder, f"converts {gguf.name}", on_progress):
            if (problem := problem_of_conversion(folder)) is not None:
                _remove(folder, problem)
                _convert_locked(gguf, folder, on_progress, change_for)


def _remove(folder: Path, problem: str) -> None:
    """Remove a conversion that cannot be used, if there is one."""
    if not os.path.lexists(folder):
        return
    _log.warning("%s: the model is converted again", problem)
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)
    else:
        folder.unlink()


def _convert_locked(
    gguf: Path,
    folder: Path,
    on_progress: Progress,
    change_for: Callable[[Mapping[str, Any]], ChangeRows] | None,
) -> None:
    on_progress(f"reading {gguf.name}", None)
    model = read_gguf_model(gguf)
    change = _unchanged if change_for is None else change_for(model.config)
    require_space(folder.parent, sum(_num_bytes(tensor) for tensor in model.tensors))

    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(mode=_FOLDER_MODE)
    try:
        model.tokenizer.save(str(partial / "tokenizer.json"), pretty=False)
        (partial / "config.json").write_text(json.dumps(model.config, indent=2), encoding="utf-8")
        _write_tensors(model, change, partial / "model.safetensors", on_progress)
        for file in partial.iterdir():
            file.chmod(_FILE_MODE)
        seal_conversion(partial, name=folder.name)
        partial.rename(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _unchanged(tensor: str, first_row: int, rows: Rows) -> Rows:
    return rows


def _write_tensors(model: GgufModel, change: ChangeRows, path: Path, on_progress: Progress) -> None:
    tensors = model.tensors
    with path.open("wb") as file:
        file.write(_header(tensors))
        for index, tensor in enumerate(tensors):
            on_progress("converting the model", index / len(tensors))
            for chunk in _bf16_chunks(model.source, tensor, change):
                file.write(chunk)
        on_progress("converting the model", 1.0)
        file.flush()
        os.fsync(file.fileno())  # before the rename: a power cut must not leave an empty file


def _header(tensors: Sequence[FusedTensor]) -> bytes:
    """Return the safetensors header, padded so that the weights begin at an aligned byte."""
    entries: dict[str, object] = {"__metadata__": {"format": FUSED_FORMAT}}
    end = 0
    for tensor in tensors:
        begin, end = end, end + _num_bytes(tensor)
        entries[tensor.name] = {
            "dtype": "BF16",
            "shape": list(tensor.shape),
            "data_offsets": [begin, end],
        }
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % _ALIGNMENT)
    return len(text).to_bytes(8, "little") + text


def _num_bytes(tensor: FusedTensor) -> int:
    return _BYTES_PER_NUMBER * math.prod(tensor.shape)


def _bf16_chunks(source: GgufFile, tensor: FusedTensor, change: ChangeRows) -> Iterator[bytes]:
    import torch

    first_row = 0
    for name in tensor.sources:
        for rows in source.rows(name):
            changed = change(tensor.name, first_row, rows)
            first_row += len(rows)
            # torch rounds to the nearest, ties to even.
            rounded = torch.from_numpy(changed.copy()).to(torch.bfloat16)
            yield rounded.view(torch.int16).numpy().tobytes()
