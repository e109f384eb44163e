"""Read the tensors of a GGUF file as float32 rows, in chunks that keep memory small."""

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, dequantize

from intarsia.engine.errors import ModelError

_CHUNK_ELEMENTS = 256 * 1024  # what a cache holds
_CHUNK_ROWS = 64  # a chunk has whole panels of an int8 matrix
_MAX_VALUES = 5_000_000
"""The most values of the metadata: a large vocabulary with its merges has a million."""


class _BoundedReader(GGUFReader):  # type: ignore[misc]
    """gguf's reader within bounds: it would take any number of values from after the file's end."""

    def __init__(self, path: Path) -> None:
        self._num_values = 0
        super().__init__(path)

    @property
    def data(self) -> npt.NDArray[np.uint8]:
        """The mapped file, as a plain array: slices of a ``memmap`` take ten times as long."""
        return self._data

    @data.setter
    def data(self, mapped: npt.NDArray[np.uint8]) -> None:
        self._data = np.asarray(mapped)

    def _get(
        self, offset: int, dtype: npt.DTypeLike, count: int = 1, override_order: Any = None
    ) -> npt.NDArray[Any]:
        if offset + np.dtype(dtype).itemsize * int(count) > len(self.data):
            raise ValueError("it ends early")
        values: npt.NDArray[Any] = super()._get(offset, dtype, count, override_order)
        return values

    def _get_field_parts(self, orig_offs: int, raw_type: int) -> Any:
        self._num_values += 1
        if self._num_values > _MAX_VALUES:
            raise ValueError("it has too many values")
        if raw_type == GGUFValueType.ARRAY and self.byte_order == "I":
            return self._list_parts(orig_offs)
        return super()._get_field_parts(orig_offs, raw_type)

    def _list_parts(self, start: int) -> Any:
        """Read an array of the metadata at once: value by value, a vocabulary takes six seconds."""
        kind, count = self._get(start, np.uint32), self._get(start + 4, np.uint64)
        number, values = self.gguf_scalar_to_np.get(GGUFValueType(kind[0])), start + 12
        if int(count[0]) == 0 or (number is None and kind[0] != GGUFValueType.STRING):
            return super()._get_field_parts(start, GGUFValueType.ARRAY)
        self._num_values += int(count[0])
        if self._num_values > _MAX_VALUES:
            raise ValueError("it has too many values")
        if number is not None:
            parts, end = [self._get(values, number, int(count[0]))], values
            end += parts[0].nbytes
        else:
            parts, end = self._strings(values, int(count[0]))
        types = [GGUFValueType.ARRAY, GGUFValueType(kind[0])]
        return end - start, [kind, count, *parts], list(range(2, 2 + len(parts))), types

    def _strings(self, end: int, count: int) -> tuple[list[npt.NDArray[Any]], int]:
        """Return strings that follow each other, and where they end."""
        parts, content = [], self.data.data
        for _ in range(count):
            begin = end + 8
            if begin > len(content):
                raise ValueError("it ends early")
            end = begin + struct.unpack_from("<Q", content, begin - 8)[0]
            parts.append(self.data[begin:end])
        if end > len(content):
            raise ValueError("it ends early")
        return parts, end


def open_gguf(path: Path) -> GGUFReader:
    """Map a GGUF file. Raises ModelError for a file that cannot be read."""
    try:
        return _BoundedReader(path)
    except (OSError, ValueError, LookupError, OverflowError, RecursionError) as fault:
        raise ModelError(
            f"{path} is not a GGUF file, or is damaged ({fault}): download it again"
        ) from fault


class GgufFile:
    """One open GGUF file: its metadata as plain values, its tensors by name."""

    def __init__(self, path: Path) -> None:
        """Raises ModelError for a file that cannot be read."""
        reader = open_gguf(path)
        self.fields: Mapping[str, Any] = {
            name: field.contents() for name, field in reader.fields.items()
        }
        self._tensors = {tensor.name: tensor for tensor in reader.tensors}
        # GGUF stores the inner dimension first.
        self.shapes: Mapping[str, tuple[int, ...]] = {
            name: tuple(int(size) for size in reversed(tensor.shape))
            for name, tensor in self._tensors.items()
        }
        self._row_orders = self._llama_row_orders()

    def slices(self, name: str) -> list[slice]:
        """Return the rows of a tensor in chunks; a vector is one chunk."""
        num_rows, shape = len(self._tensors[name].data), self.shapes[name]
        step = num_rows
        if len(shape) > 1:
            step = max(1, _CHUNK_ELEMENTS // shape[-1] // _CHUNK_ROWS) * _CHUNK_ROWS
        return [slice(start, start + step) for start in range(0, num_rows, step)]

    def rows(self, name: str, chunk: slice) -> npt.NDArray[np.float32]:
        """Return a chunk of rows as float32."""
        result: npt.NDArray[np.float32] = dequantize(
            self.stored(name, chunk), self._tensors[name].tensor_type
        )
        return result

    def stored(self, name: str, chunk: slice) -> npt.NDArray[Any]:
        """Return a chunk of rows as they are stored."""
        order = self._row_orders.get(name)
        rows: npt.NDArray[Any] = self._tensors[name].data[chunk if order is None else order[chunk]]
        return rows

    def format_of(self, name: str) -> str:
        """Return llama.cpp's name of a tensor's format, such as ``Q8_0``."""
        return str(GGMLQuantizationType(self._tensors[name].tensor_type).name)

    def sample(self, name: str, num_rows: int) -> npt.NDArray[np.float32]:
        """Return ``num_rows`` rows, spread evenly over a matrix, as float32."""
        tensor = self._tensors[name]
        picked = np.linspace(0, len(tensor.data) - 1, num_rows).astype(int)
        result: npt.NDArray[np.float32] = dequantize(tensor.data[picked], tensor.tensor_type)
        return result

    def num_stored_bytes(self, name: str) -> int:
        return int(self._tensors[name].n_bytes)

    def _llama_row_orders(self) -> dict[str, npt.NDArray[np.intp]]:
        """Return how a Llama file orders the rows of q and k: llama.cpp interleaves the halves."""
        if self.fields.get("general.architecture") != "llama":
            return {}
        num_heads = self.fields["llama.attention.head_count"]
        heads = {"q": num_heads, "k": self.fields.get("llama.attention.head_count_kv", num_heads)}
        orders = {}
        for name, shape in self.shapes.items():
            part = name.removesuffix(".weight").removesuffix(".bias").rpartition(".attn_")[2]
            if part in heads:
                stored = np.arange(shape[0]).reshape(heads[part], -1, 2)
                orders[name] = stored.swapaxes(1, 2).reshape(-1)
        return orders
