"""The weights of a causal backbone in int8: quantized, and kept in a file in that form.

A file holds the matrices as this processor multiplies them, so that a start only reads them.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import psutil

from intarsia.engine.arrays import Array, floats
from intarsia.engine.cache.progress import Progress
from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape, read_shape
from intarsia.engine.families.masked_causal.backbone.weights import Embeddings, Tensors
from intarsia.engine.kernels.int8_matrix import empty_matrices, write_rows
from intarsia.engine.kernels.operands import Floats, Int8Matrices, LayerStack
from intarsia.engine.kernels.processor import dot_product, num_lanes
from intarsia.engine.model_store.gguf.convert import ChangeRows, Conversion, bfloat16_rows
from intarsia.engine.model_store.gguf.read import GgufModel
from intarsia.engine.model_store.mapped import map_tensors, write_tensors

_ROWS_AT_ONCE = 1024  # a whole number of panels


def num_threads() -> int:
    """Return how many threads compute: one for each core that this process may use."""
    configured = os.environ.get("OMP_NUM_THREADS", "")
    if configured.isdigit() and int(configured):
        return int(configured)
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(psutil.cpu_count(logical=False) or 1, allowed or 1))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Int8Weights:
    """All layers, the output matrix, and the embeddings, which stay as they are."""

    embeddings: Embeddings
    output: Int8Matrices
    layers: LayerStack


ReadTensor: TypeAlias = Callable[[str], Array | None]
"""Returns a tensor by its name in our own layout, None where the model has none."""


def quantize_stack(read: ReadTensor, num_layers: int) -> LayerStack:
    """Return all layers in int8, with one scale for each row of a matrix.

    One matrix after the other is read, and nothing of them is kept.
    """

    def each(part: str) -> Iterator[Array | None]:
        return (read(f"layers.{i}.{part}") for i in range(num_layers))

    return LayerStack(
        attn_norms=_stack(each("attn_norm")),
        mlp_norms=_stack(each("mlp_norm")),
        q_norms=_stack(each("q_norm")),
        k_norms=_stack(each("k_norm")),
        last_norm=np.array(floats(read("norm"))),
        qkv=_quantize(each("qkv"), num_layers, each("qkv_bias")),
        o=_quantize(each("o"), num_layers),
        gate_up=_quantize(each("gate_up"), num_layers),
        down=_quantize(each("down"), num_layers),
    )


def quantize_output(read: ReadTensor) -> Int8Matrices:
    """Return the output matrix in int8; it may be tied to the embedding."""
    output = read("output")
    return _quantize(iter([read("embed") if output is None else output]), 1)


def _quantize(
    weights: Iterator[Array | None], count: int, biases: Iterable[Array | None] = ()
) -> Int8Matrices:
    """Quantize one part of all layers: ``count`` matrices of one size."""
    first = next(weights)
    assert first is not None
    matrices = empty_matrices(count, *first.shape)
    own_biases = iter(biases)
    with ThreadPoolExecutor(num_threads()) as threads:
        for index in range(count):
            weight, bias = first if index == 0 else next(weights), next(own_biases, None)
            write = partial(_write_block, matrices, index, weight, bias)
            list(threads.map(write, range(0, matrices.num_out, _ROWS_AT_ONCE)))
    return matrices


def _write_block(
    matrices: Int8Matrices, index: int, weight: Array, bias: Array | None, first_row: int
) -> None:
    # block by block: an embedding in float32 is half a GB
    rows = slice(first_row, first_row + _ROWS_AT_ONCE)
    own_bias = None if bias is None else floats(bias[rows])
    write_rows(matrices, index, first_row, floats(weight[rows]), bias=own_bias)


def _stack(vectors: Iterable[Array | None]) -> Floats:
    """Return all layers' norms, (layers, 0) where the model has none."""
    present = [np.empty(0, np.float32) if it is None else floats(it) for it in vectors]
    return np.stack(present)


INT8_FORMAT = "intarsia-int8-2"
_FIELDS = ("panels", "column_scales", "biases")  # of Int8Matrices: its arrays
_PARTS = ("qkv", "o", "gate_up", "down", "output")
_NORMS = ("attn_norms", "mlp_norms", "q_norms", "k_norms", "last_norm")


def why_unfit_for_int8(shape: BackboneShape) -> str | None:
    """Return why this backbone cannot run in int8, None where it can."""
    if shape.head_dim % num_lanes():
        return f"its heads of {shape.head_dim} numbers do not fill vectors of {num_lanes()}"
    return None


def int8_conversion() -> Conversion:
    """Return the conversion of a GGUF file to int8 in the order of this processor's products."""
    product = dot_product()
    version = INT8_FORMAT.rpartition("-")[2]
    return Conversion(
        name=f"int8.{version}-{product.lanes}-{product.zero}",
        fits=lambda config: why_unfit_for_int8(read_shape(config)) is None,
        write=_write_int8,
    )


def _write_int8(model: GgufModel, change: ChangeRows, path: Path, on_progress: Progress) -> None:
    """Quantize the rows of a GGUF file, rounded to bfloat16 as in its usual conversion."""
    tensors = {tensor.name: tensor for tensor in model.tensors}
    shape, read_so_far = read_shape(model.config), set[str]()

    def read(name: str) -> Array | None:
        if name not in tensors:
            return None
        read_so_far.add(name)
        on_progress("converting the model", len(read_so_far) / len(tensors))
        return np.concatenate(
            list(bfloat16_rows(model.source, tensors[name], change, run=threads.map))
        )

    with ThreadPoolExecutor(num_threads()) as threads:
        embeddings = {name: read(name) for name in ("embed", "output")}
        output = quantize_output(embeddings.get)
        for name in embeddings.keys() & tensors.keys():
            (source,) = tensors[name].sources
            if (blocks := model.source.blocks(source)) is not None:  # no tuning changes it
                embeddings[name] = blocks
        layers = quantize_stack(read, shape.num_layers)
    written: dict[str, Array] = {name: getattr(layers, name) for name in _NORMS}
    for part in _PARTS:
        matrices = output if part == "output" else getattr(layers, part)
        written |= {f"{part}.{name}": getattr(matrices, name) for name in _FIELDS}
    written |= {name: rows for name, rows in embeddings.items() if rows is not None}
    write_tensors(path, written, {"format": INT8_FORMAT})


_BLOCK, _SCALE_BYTES = 32, 2


class BlockRows:
    """A mapped embedding in llama.cpp's Q8_0: each 32 bytes of a row after their float16 scale.

    Its rows are float32, rounded to bfloat16 as all weights are.
    """

    def __init__(self, blocks: Array) -> None:
        self._blocks = blocks  # (vocab, bytes of a row)

    def __getitem__(self, ids: Array) -> Floats:
        found = self._blocks[ids]
        blocks = found.reshape(*found.shape[:-1], -1, _SCALE_BYTES + _BLOCK)
        scales = np.ascontiguousarray(blocks[..., :_SCALE_BYTES]).view(np.float16)
        numbers = blocks[..., _SCALE_BYTES:].view(np.int8) * scales.astype(np.float32)
        bits = numbers.view(np.uint32)
        bits += 0x7FFF + ((bits >> 16) & 1)
        bits &= 0xFFFF0000
        rows: Floats = numbers.reshape(*found.shape[:-1], -1)
        return rows


def _embedding(stored: Array, shape: BackboneShape) -> Array:
    """Return a stored embedding, in blocks or in bfloat16. Raises ValueError for another size."""
    in_blocks = stored.dtype == np.uint8
    width = shape.hidden // _BLOCK * (_SCALE_BYTES + _BLOCK) if in_blocks else shape.hidden
    if stored.shape != (shape.vocab_size, width):
        raise ValueError(f"an embedding is {stored.shape}")
    return BlockRows(stored) if in_blocks else stored


def read_int8(path: Path, shape: BackboneShape) -> Int8Weights:
    """Read such a file. Raises ModelError where it does not fit the shape."""
    try:
        tensors = map_tensors([path])
        sizes: dict[str, tuple[int, int, int]] = {
            part: (shape.num_layers, it.num_out, it.num_in) for part, it in shape.matrices().items()
        }
        layers: dict[str, Any] = {name: np.array(tensors[name]()) for name in _NORMS}
        sizes["output"] = (1, shape.vocab_size, shape.hidden)
        with ThreadPoolExecutor(num_threads()) as threads:
            read = threads.map(partial(_read_matrices, tensors), sizes, sizes.values())
            layers |= zip(sizes, read, strict=True)
        output = layers.pop("output")
        tensors = map_tensors([path])  # again: it maps only what is looked up
        embed = _embedding(tensors["embed"](), shape)
        own = _embedding(tensors["output"](), shape) if "output" in tensors else embed
        return Int8Weights(
            embeddings=Embeddings(embed=embed, output=own),
            output=output,
            layers=LayerStack(**layers),
        )
    except (OSError, LookupError, ValueError) as error:
        raise ModelError(f"{path} cannot be read ({error}): remove its folder") from error


def _read_matrices(tensors: Tensors, part: str, size: tuple[int, int, int]) -> Int8Matrices:
    """Copy stored matrices, so that they lie aligned and in large pages."""
    matrices = empty_matrices(*size)
    for name in _FIELDS:
        stored, target = tensors[f"{part}.{name}"](), getattr(matrices, name)
        if stored.shape != target.shape:
            raise ValueError(f"{part} is {stored.shape}, needed {target.shape}")
        target[...] = stored
    return matrices
