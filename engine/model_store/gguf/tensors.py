"""Read the tensors of a GGUF file as float32 rows, in chunks that keep memory small."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gguf import GGUFReader, dequantize

from intarsia.engine.errors import ModelError

_CHUNK_ELEMENTS = 256 * 1024  # what a cache holds
_MAX_VALUES = 5_000_000
"""In the metadata: a large vocabulary with its merges has a million."""


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
        return super()._get_field_parts(orig_offs, raw_type)


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

    def rows(self, name: str) -> Iterator[npt.NDArray[np.float32]]:
        """Yield the tensor as float32 in chunks of whole rows; a vector is one chunk."""
        tensor, shape = self._tensors[name], self.shapes[name]
        step = len(tensor.data) if len(shape) == 1 else max(1, _CHUNK_ELEMENTS // shape[-1])
        order = self._row_orders.get(name)
        for start in range(0, len(tensor.data), step):
            rows = slice(start, start + step) if order is None else order[start : start + step]
            yield dequantize(tensor.data[rows], tensor.tensor_type)

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
