"""Map the tensors of safetensors files into memory as NumPy arrays, and write such files."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from intarsia.engine.arrays import Array
from intarsia.engine.model_store.checkpoint import read_safetensors_header
from intarsia.engine.model_store.gguf.convert import header_of

_FORMATS = {
    "BF16": np.uint16,  # bits: NumPy has no bfloat16
    "F16": np.float16,
    "F32": np.float32,
    "F64": np.float64,
    "U16": np.uint16,
    "I32": np.int32,
    "I8": np.int8,
    "U8": np.uint8,
}


def map_tensors(files: Sequence[Path]) -> Mapping[str, Callable[[], Array]]:
    """Return what maps each tensor of the files, by its name.

    Raises ModelError for a damaged header, OSError; mapping raises ValueError for another format.
    """
    tensors: dict[str, Callable[[], Array]] = {}
    for path in files:
        header = read_safetensors_header(path)
        with path.open("rb") as file:
            start = 8 + int.from_bytes(file.read(8), "little")
        content = np.memmap(path, np.uint8, "r", offset=start)
        tensors |= {name: partial(_view, content, name, it) for name, it in header.tensors.items()}
    return tensors


def _view(content: Array, name: str, entry: Mapping[str, Any]) -> Array:
    if entry["dtype"] not in _FORMATS:
        raise ValueError(f"{name} has the unknown format {entry['dtype']}")
    begin, end = entry["data_offsets"]
    return content[begin:end].view(_FORMATS[entry["dtype"]]).reshape(entry["shape"])


def write_tensors(path: Path, tensors: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
    """Write NumPy arrays to a file. Raises OSError."""
    names = {np.dtype(kind): name for name, kind in _FORMATS.items()}  # a uint16 is a U16
    listed = (
        (name, names[array.dtype], array.shape, array.nbytes) for name, array in tensors.items()
    )
    with path.open("wb") as file:
        file.write(header_of(listed, metadata))
        for array in tensors.values():
            file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
