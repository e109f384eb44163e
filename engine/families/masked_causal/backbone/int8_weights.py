"""The weights of a causal backbone in int8: quantized, or read from a file that has them so."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import psutil

from intarsia.engine.arrays import CACHE_LINE, Array, floats, round_to_bfloat16
from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.families.masked_causal.backbone.weights import Embeddings
from intarsia.engine.kernels.int8_matrix import empty_matrices, unpacked_rows, write_rows
from intarsia.engine.kernels.operands import BLOCK, BLOCK_BYTES, Floats, Int8Matrices, LayerStack
from intarsia.engine.kernels.processor import num_lanes
from intarsia.engine.model_store.mapped import map_tensors, read_tensors

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
        **read_norms(read, num_layers),
        qkv=_quantize(each("qkv"), num_layers, each("qkv_bias")),
        o=_quantize(each("o"), num_layers),
        gate_up=_quantize(each("gate_up"), num_layers),
        down=_quantize(each("down"), num_layers),
    )


def read_norms(read: ReadTensor, num_layers: int) -> dict[str, Floats]:
    """Return the norms of a stack by their names in it; one that a model lacks has no columns."""

    def stacked(part: str) -> Floats:
        found = [read(f"layers.{i}.{part}") for i in range(num_layers)]
        return np.stack([np.empty(0, np.float32) if it is None else floats(it) for it in found])

    norms = {f"{part}s": stacked(part) for part in ("attn_norm", "mlp_norm", "q_norm", "k_norm")}
    return norms | {"last_norm": np.array(floats(read("norm")))}


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


INT8_FORMAT = "intarsia-int8-2"
FIELDS = ("panels", "column_scales", "biases")  # of Int8Matrices: its arrays
_NORMS = ("attn_norms", "mlp_norms", "q_norms", "k_norms", "last_norm")


def why_unfit_for_int8(shape: BackboneShape) -> str | None:
    """Return why this backbone cannot run in int8, None where it can."""
    if shape.head_dim % num_lanes():
        return f"its heads of {shape.head_dim} numbers do not fill vectors of {num_lanes()}"
    return None


class BlockRows:
    """A mapped embedding in llama.cpp's Q8_0: each 32 bytes of a row after their float16 scale.

    Its rows are float32, rounded to bfloat16 as all weights are.
    """

    def __init__(self, blocks: Array) -> None:
        self._blocks = blocks  # (vocab, bytes of a row)

    def __getitem__(self, ids: Array) -> Floats:
        found = self._blocks[ids]
        numbers = unpacked_rows(found.reshape(-1, found.shape[-1]), "Q8_0")
        rows: Floats = round_to_bfloat16(numbers).reshape(*found.shape[:-1], -1)
        return rows


def _embedding(stored: Array, shape: BackboneShape) -> Array:
    """Return a stored embedding, in blocks or in bfloat16. Raises ValueError for another size."""
    in_blocks = stored.dtype == np.uint8
    width = shape.hidden // BLOCK * BLOCK_BYTES["Q8_0"] if in_blocks else shape.hidden
    if stored.shape != (shape.vocab_size, width):
        raise ValueError(f"an embedding is {stored.shape}")
    return BlockRows(stored) if in_blocks else stored


def read_int8(path: Path, shape: BackboneShape, meanwhile: Callable[[], None]) -> Int8Weights:
    """Read such a file while ``meanwhile`` runs. Raises ModelError where it does not fit the shape.

    Embeddings are mapped: their rows come into memory when they are looked up.
    """
    try:
        tensors = read_tensors(path, "embed", num_threads(), meanwhile)
        layers: dict[str, Any] = {name: tensors[name] for name in _NORMS}
        for part, it in shape.matrices().items():
            layers[part] = _matrices(tensors, part, shape.num_layers, it.num_out, it.num_in)
        mapped = map_tensors([path])
        embed = _embedding(mapped["embed"](), shape)
        own = _embedding(mapped["output"](), shape) if "output" in mapped else embed
        return Int8Weights(
            embeddings=Embeddings(embed=embed, output=own),
            output=_matrices(tensors, "output", 1, shape.vocab_size, shape.hidden),
            layers=LayerStack(**layers),
        )
    except (OSError, LookupError, ValueError) as error:
        raise ModelError(f"{path} cannot be read ({error}): remove its folder") from error


def _matrices(
    tensors: Mapping[str, Array], part: str, count: int, num_out: int, num_in: int
) -> Int8Matrices:
    """Return stored matrices; they are copied only where they do not begin at a cache line."""
    matrices = empty_matrices(count, num_out, num_in)
    stored = {name: tensors[f"{part}.{name}"] for name in FIELDS}
    for name, array in stored.items():
        needed = getattr(matrices, name)
        if (array.shape, array.dtype) != (needed.shape, needed.dtype):
            raise ValueError(f"{part} is {array.shape}, needed {needed.shape}")
    if stored["panels"].ctypes.data % CACHE_LINE:
        matrices.panels[...] = stored.pop("panels")
    return matrices._replace(**stored)
