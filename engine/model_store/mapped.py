"""Map the tensors of safetensors files into memory as NumPy arrays, and write such files."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Semaphore
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from intarsia.engine.arrays import CACHE_LINE, Array, aligned_bytes
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
        content = np.memmap(path, np.uint8, "r", offset=_start_of_content(path))
        tensors |= {name: partial(_view, content, name, it) for name, it in header.tensors.items()}
    return tensors


def _start_of_content(path: Path) -> int:
    with path.open("rb") as file:
        return 8 + int.from_bytes(file.read(8), "little")


def _view(content: Array, name: str, entry: Mapping[str, Any]) -> Array:
    if entry["dtype"] not in _FORMATS:
        raise ValueError(f"{name} has the unknown format {entry['dtype']}")
    begin, end = entry["data_offsets"]
    return content[begin:end].view(_FORMATS[entry["dtype"]]).reshape(entry["shape"])


def read_tensors(
    path: Path, end: str, num_threads: int, meanwhile: Callable[[], None]
) -> Mapping[str, Array]:
    """Read the tensors of a file that lie before the tensor ``end``, by so many threads.

    These need no interpreter, in which ``meanwhile`` runs. Raises ModelError for a damaged header,
    ValueError for an unknown format, LookupError, OSError.
    """
    header, start = read_safetensors_header(path), _start_of_content(path)
    num_bytes = header.tensors[end]["data_offsets"][0]
    content = aligned_bytes(num_bytes)
    share = -(-num_bytes // (num_threads * CACHE_LINE)) * CACHE_LINE
    with ThreadPoolExecutor(num_threads) as threads:
        parts = [(start + at, content[at : at + share]) for at in range(0, num_bytes, share)]
        begun = Semaphore(0)
        reading = [threads.submit(_read, path, at, part, begun) for at, part in parts]
        for _ in parts:
            begun.acquire()
        meanwhile()
        for one in reading:
            one.result()
    return {
        name: _view(content, name, entry)
        for name, entry in header.tensors.items()
        if entry["data_offsets"][1] <= num_bytes
    }


def _read(path: Path, at: int, part: Array, begun: Semaphore) -> None:
    with path.open("rb", buffering=0) as file:
        file.seek(at)
        left = memoryview(part)
        begun.release()  # this thread keeps the interpreter until it reads
        while left:
            if not (count := file.readinto(left)):
                raise ValueError("it ends early")
            left = left[count:]


Size: TypeAlias = tuple[npt.DTypeLike, tuple[int, ...]]  # format and shape


@contextmanager
def tensor_file(
    path: Path, sizes: Mapping[str, Size], metadata: Mapping[str, str]
) -> Iterator[Callable[[str, int, Array], None]]:
    """Yield what writes rows of a tensor, from a row on, beside the caller. Raises OSError."""
    names = {np.dtype(kind): name for name, kind in _FORMATS.items()}  # a uint16 is a U16
    listed, starts, end = [], {}, 0
    for name, (kind, shape) in sizes.items():
        num_bytes = np.dtype(kind).itemsize * math.prod(shape)
        listed.append((name, names[np.dtype(kind)], shape, num_bytes))
        starts[name], end = end, end + num_bytes
    header = header_of(listed, metadata)
    with path.open("wb") as file, ThreadPoolExecutor(1) as beside:

        def write(start: int, rows: Array) -> None:
            file.seek(start)
            file.write(np.ascontiguousarray(rows).reshape(-1).view(np.uint8).data)

        def put(name: str, first_row: int, rows: Array) -> None:
            row_bytes = rows.nbytes // len(rows)
            start = len(header) + starts[name] + first_row * row_bytes
            written.append(beside.submit(write, start, rows))

        file.write(header)
        written: list[Future[None]] = []
        yield put
        for one in written:
            one.result()
