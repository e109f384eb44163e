"""Convert a GGUF file to int8, as this processor multiplies it, so that a start only reads it."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count, groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from intarsia.engine.arrays import Array, floats, round_to_bfloat16
from intarsia.engine.cache.progress import Progress
from intarsia.engine.families.masked_causal.backbone.int8_weights import (
    FIELDS,
    INT8_FORMAT,
    num_threads,
    read_norms,
    why_unfit_for_int8,
)
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape, read_shape
from intarsia.engine.kernels.int8_matrix import empty_matrices, unpacked_rows, write_rows
from intarsia.engine.kernels.operands import BLOCK_BYTES, Floats, Int8Matrices
from intarsia.engine.kernels.processor import dot_product, num_lanes
from intarsia.engine.model_store.gguf.convert import ChangeRows, Conversion, bfloat16_rows
from intarsia.engine.model_store.mapped import Size, tensor_file

if TYPE_CHECKING:
    from intarsia.engine.model_store.gguf.read import GgufModel


def int8_conversion() -> Conversion:
    """Return the conversion of a GGUF file to int8 in the order of this processor's products."""
    product = dot_product()
    version = INT8_FORMAT.rpartition("-")[2]
    return Conversion(
        name=f"int8.{version}-{product.lanes}-{product.zero}",
        fits=lambda config: _fits(read_shape(config)),
        write=_write,
    )


def _fits(shape: BackboneShape) -> bool:
    """Return whether each matrix begins with a whole panel where it is joined with others."""
    return why_unfit_for_int8(shape) is None and shape.intermediate % num_lanes() == 0


def _write(model: "GgufModel", change: ChangeRows, path: Path, on_progress: Progress) -> None:
    """Quantize the rows of a GGUF file, rounded to bfloat16 as in its usual conversion."""
    source, shape = _Source(model, change), read_shape(model.config)
    parts: dict[str, list[str]] = {
        part: [f"layers.{i}.{part}" for i in range(shape.num_layers)] for part in shape.matrices()
    }
    embeddings: list[str] = [name for name in ("embed", "output") if name in source.tensors]
    parts["output"] = embeddings[-1:]
    norms = read_norms(source.read, shape.num_layers)
    sizes: dict[str, Size] = {name: (norm.dtype, norm.shape) for name, norm in norms.items()}
    for part, names in parts.items():
        arrays = source.empty(names)._asdict()
        sizes |= {f"{part}.{field}": (arrays[field].dtype, arrays[field].shape) for field in FIELDS}
    sizes |= {name: source.size_looked_up(name) for name in embeddings}
    with (
        tensor_file(path, sizes, {"format": INT8_FORMAT}) as put,
        ThreadPoolExecutor(num_threads()) as threads,
    ):
        for name, norm in norms.items():
            put(name, 0, norm)
        done, num_matrices = count(), sum(map(len, parts.values()))
        for part, names in parts.items():
            matrices = source.quantized(
                names,
                threads,
                lambda: on_progress("converting the model", next(done) / num_matrices),
            )
            for field in FIELDS:
                put(f"{part}.{field}", 0, getattr(matrices, field))
        for name in embeddings:
            first_row = 0
            for rows in source.looked_up(name, threads):
                put(name, first_row, rows)
                first_row += len(rows)
    on_progress("converting the model", 1.0)


class _Source:
    """The tensors of a GGUF file, changed, in our own layout."""

    def __init__(self, model: "GgufModel", change: ChangeRows) -> None:
        self._file, self._change = model.source, change
        self.tensors = {tensor.name: tensor for tensor in model.tensors}

    def read(self, name: str) -> Array | None:
        """Return a small tensor, None where the model has none."""
        if (tensor := self.tensors.get(name)) is None:
            return None
        return np.concatenate(list(bfloat16_rows(self._file, tensor, self._change)))

    def empty(self, names: Sequence[str]) -> Int8Matrices:
        return empty_matrices(len(names), *self.tensors[names[0]].shape)

    def quantized(
        self, names: Sequence[str], threads: ThreadPoolExecutor, on_matrix: Callable[[], None]
    ) -> Int8Matrices:
        """Return matrices of one size, quantized by chunks; ``on_matrix`` is called for each."""
        matrices, chunks = self.empty(names), []
        for index, name in enumerate(names):
            bias, first_row = self.read(f"{name}_bias"), 0
            if bias is not None:
                matrices.biases[index, : len(bias)] = floats(bias)
            for source in self.tensors[name].sources:
                for chunk in self._file.slices(source):
                    chunks.append((index, name, first_row + chunk.start, source, chunk))
                first_row += self._file.shapes[source][0]

        def quantize(index: int, name: str, first_row: int, source: str, chunk: slice) -> None:
            rows = self._change(name, first_row, self._numbers(source, chunk))
            rows = round_to_bfloat16(np.require(rows, np.float32, ["C", "W"]))
            write_rows(matrices, index, first_row, rows)

        finished = threads.map(quantize, *zip(*chunks, strict=True))
        for _ in groupby(zip(chunks, finished, strict=True), lambda it: it[0][0]):
            on_matrix()  # its first chunk is done
        return matrices

    def _numbers(self, source: str, chunk: slice) -> Floats:
        if (format_ := self._file.format_of(source)) in BLOCK_BYTES:
            return unpacked_rows(self._file.stored(source, chunk), format_)
        return self._file.rows(source, chunk)

    def size_looked_up(self, name: str) -> Size:
        """Return the format and shape of an embedding's rows in the file."""
        tensor = self.tensors[name]
        (source,) = tensor.sources
        if self._file.format_of(source) == "Q8_0":
            return np.uint8, self._file.stored(source, slice(None)).shape
        return np.uint16, tensor.shape

    def looked_up(self, name: str, threads: ThreadPoolExecutor) -> Iterator[Array]:
        """Yield an embedding's rows, as they are stored if that is in blocks of 8 bits."""
        tensor = self.tensors[name]
        (source,) = tensor.sources
        if self._file.format_of(source) == "Q8_0":  # no tuning changes it
            yield self._file.stored(source, slice(None))
        else:
            yield from bfloat16_rows(self._file, tensor, self._change, run=threads.map)
