"""Load a causal backbone and its drafter, in the configured format or the fastest one here.

Without a configured format a short calibration decides: processors and libraries differ too much
for a rule.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import torch

from intarsia.engine.config import Dtype
from intarsia.engine.errors import ModelError
from intarsia.engine.families.device import choose_dtype, free_bytes, name_of, require_memory
from intarsia.engine.families.masked_causal.backbone.drafter import Drafter, read_drafter
from intarsia.engine.families.masked_causal.backbone.interface import LoadedBackbone
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.families.masked_causal.backbone.torch_backbone import (
    Linear,
    TorchBackbone,
    can_pack,
    pack,
    torch_weights,
)
from intarsia.engine.families.masked_causal.backbone.tuning import tune
from intarsia.engine.families.masked_causal.backbone.weights import (
    BackboneWeights,
    Embeddings,
    read_weights,
)
from intarsia.engine.model_store.checkpoint import is_run_by_transformers
from intarsia.engine.model_store.locate import ModelFolder

Format: TypeAlias = Literal["plain", "packed", "int8"]

_NUM_ROWS = 8  # of a typical pass
_NUM_ROUNDS = 15
_NUM_BYTES = 2**26  # of a plain matrix: more than caches hold, and a call costs little of it
_WORTHWHILE = 0.9  # of the time: another format costs load time, memory or precision


def choose_format(
    configured: Dtype,
    shape: BackboneShape,
    *,
    dtype: torch.dtype,
    device: torch.device,
    has_room: Callable[[Format], bool],
) -> tuple[Format, tuple[str, ...]]:
    """Return int8 where it is configured, else the fastest format that is allowed.

    int8 is allowed where the format is ``auto``, and packed or int8 copies where ``has_room``. A
    note says why int8 was not timed. Raises ModelError where it is configured and cannot run.
    """
    if configured == "int8":
        reason = _why_not_int8(shape, device)
        if reason is not None:
            raise ModelError(f"int8 cannot run here: {reason}: leave `--dtype` out")
        return "int8", ()
    formats: list[Format] = ["plain"]
    if device.type == "cpu" and has_room("packed") and can_pack(dtype):
        formats.append("packed")
    notes: tuple[str, ...] = ()
    if configured == "auto" and device.type == "cpu":
        is_short = not has_room("int8")
        reason = "memory is short" if is_short else _why_not_int8(shape, device)
        if reason is None:
            formats.append("int8")
        else:
            notes = (f"int8 is not used: {reason}",)
    return fastest(formats, shape, dtype) if len(formats) > 1 else "plain", notes


@torch.inference_mode()
def fastest(formats: list[Format], shape: BackboneShape, dtype: torch.dtype) -> Format:
    """Return the format that multiplies fastest, timed with a matrix as tall as several layers.

    ``formats`` are in order of rising cost; a later one must be clearly faster. What other programs
    take only adds to a time, so the shortest of all rounds is compared.
    """
    height = 2 * shape.intermediate
    num_bytes = height * shape.hidden * dtype.itemsize
    num_layers = min(shape.num_layers, 1 + _NUM_BYTES // num_bytes)
    weight = torch.full((num_layers * height, shape.hidden), 0.5, dtype=dtype)
    rows = torch.ones(_NUM_ROWS, shape.hidden, dtype=dtype)
    products = [_product(format_, weight, rows) for format_ in formats]
    for product in products:
        product()  # the first call sets the library up
    rounds = [[_seconds(product) for product in products] for _ in range(_NUM_ROUNDS)]
    seconds = [min(times) for times in zip(*rounds, strict=True)]
    best = 0
    for i in range(1, len(formats)):
        if seconds[i] < _WORTHWHILE * seconds[best]:
            best = i
    return formats[best]


class _Int8(Protocol):
    """What is asked of ``int8_backbone``."""

    def why_unfit_for_int8(self, shape: BackboneShape) -> str | None: ...
    def is_int8_supported(self) -> bool: ...
    def int8_product(self, weight: torch.Tensor, rows: torch.Tensor) -> Callable[[], object]: ...
    def load_int8(
        self,
        shape: BackboneShape,
        weights: BackboneWeights,
        embeddings: Embeddings,
        *,
        num_threads: int,
        drafter: Drafter | None,
    ) -> LoadedBackbone: ...


def _int8() -> _Int8:
    """Import numba, which takes a quarter of a second, only where it is used."""
    from intarsia.engine.families.masked_causal.backbone import int8_backbone

    return int8_backbone


def _why_not_int8(shape: BackboneShape, device: torch.device) -> str | None:
    """Return why int8 cannot run, None where it can."""
    if device.type != "cpu":
        return f"it is for the CPU, not for {device}"
    try:
        if (reason := _int8().why_unfit_for_int8(shape)) is not None:
            return reason
        is_supported = _int8().is_int8_supported()
    except Exception as error:  # noqa: BLE001 - a compiler may fail in any way; torch does not need it
        return f"its products cannot be compiled here ({error!r})"
    return None if is_supported else "this processor has neither AVX2 nor dot products of bytes"


def _product(format_: Format, weight: torch.Tensor, rows: torch.Tensor) -> Callable[[], object]:
    """Return a function that multiplies the rows with the matrix in a format."""
    if format_ == "int8":
        return _int8().int8_product(weight, rows)
    matrix = pack(weight) if format_ == "packed" else Linear(weight)
    return lambda: matrix.multiply(rows)


def _seconds(product: Callable[[], object]) -> float:
    started = time.perf_counter()
    product()
    return time.perf_counter() - started


_NUM_THREADS = torch.get_num_threads()

_RESERVED_BYTES = 2**30
"""A copy in another format leaves this much memory to contexts, passes and other programs."""


def load_backbone(
    folder: ModelFolder,
    shape: BackboneShape,
    configured: Dtype,
    device: torch.device,
    *,
    drafter: Path | None = None,
) -> LoadedBackbone:
    """Read and tune a backbone, in the configured format or the fastest one.

    A shape that our own passes do not compute runs in transformers. Raises ModelError where
    something is missing, misshapen or too large for the memory.
    """
    if is_run_by_transformers(folder.config):
        # it takes seconds to import: only where it is used
        from intarsia.engine.families.masked_causal.backbone.transformers_backbone import (
            load_transformers_backbone,
        )

        return load_transformers_backbone(folder, shape, configured, device, drafter=drafter)
    torch.set_num_threads(_NUM_THREADS)
    dtype = choose_dtype(configured, device)

    def has_room(format_: Format) -> bool:
        num_bytes = plan_memory(folder, format_, dtype, device).num_bytes
        return num_bytes + _RESERVED_BYTES <= free_bytes(device)

    format_, notes = choose_format(configured, shape, dtype=dtype, device=device, has_room=has_room)
    plan = plan_memory(folder, format_, dtype, device)
    require_memory(plan.num_bytes, device, folder.name)
    weights = _read(folder, shape, plan, device)
    for tuning in folder.tunings:
        weights = tune(weights, shape, tuning)
    drafter_read = None
    if drafter is not None:
        in_int8 = plan.format == "int8"  # its few rows outside the products are in float32
        drafter_dtype = torch.float32 if in_int8 else plan.dtype
        drafter_read = read_drafter(drafter, shape, dtype=drafter_dtype, device=device)
    if plan.format == "plain":
        backbone = TorchBackbone(shape, torch_weights(weights, "plain"), drafter=drafter_read)
        return LoadedBackbone(backbone=backbone, format_name=name_of(plan.dtype), notes=notes)
    # The copy does not refer to the mapped file. Mapped a second time, only the rows that are
    # looked up come into memory; a tuning does not change the embeddings.
    source = _read(folder, shape, plan, device) if plan.is_mapped else _copy_embeddings(weights)
    loaded = _convert(shape, weights, source.embeddings, plan, drafter_read)
    return replace(loaded, notes=(*notes, *loaded.notes))


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryPlan:
    """How the weights come into memory."""

    format: Format
    dtype: torch.dtype  # of the weights as they are read
    is_mapped: bool  # the file is mapped, not copied
    num_bytes: int  # of memory apart from the mapped file


def plan_memory(
    folder: ModelFolder, format_: Format, dtype: torch.dtype, device: torch.device
) -> MemoryPlan:
    """Return how weights that are computed in ``dtype`` come into memory in this format."""
    if format_ == "int8":
        dtype = torch.bfloat16  # read as stored: no row is computed in it
    is_mapped = folder.is_fused and device.type == "cpu" and dtype == torch.bfloat16
    stored = sum(path.stat().st_size for path in folder.weights)  # 16 bits a number
    read = 2 * stored if dtype == torch.float32 else stored
    converted = {"plain": 0, "packed": read, "int8": stored // 2}[format_]
    is_copied = not is_mapped or bool(folder.tunings)
    return MemoryPlan(
        format=format_,
        dtype=dtype,
        is_mapped=is_mapped,
        num_bytes=(read if is_copied else 0) + converted,
    )


def _read(
    folder: ModelFolder, shape: BackboneShape, plan: MemoryPlan, device: torch.device
) -> BackboneWeights:
    return read_weights(
        folder.weights, shape, is_fused=folder.is_fused, dtype=plan.dtype, device=device
    )


def _convert(
    shape: BackboneShape,
    weights: BackboneWeights,
    embeddings: Embeddings,
    plan: MemoryPlan,
    drafter: Drafter | None,
) -> LoadedBackbone:
    """Return a backbone with its matrices copied into another format."""
    if plan.format == "packed":
        packed = replace(torch_weights(weights, "packed"), embeddings=embeddings)
        return LoadedBackbone(
            backbone=TorchBackbone(shape, packed, drafter=drafter),
            format_name=f"{name_of(plan.dtype)}, packed",
        )
    # Torch has only small work left. Shared between threads, each piece of it would wait for the
    # scheduler's next turn (4 ms) whenever another program computes.
    loaded = _int8().load_int8(
        shape, weights, embeddings, num_threads=_NUM_THREADS, drafter=drafter
    )
    torch.set_num_threads(1)
    return loaded


def _copy_embeddings(weights: BackboneWeights) -> BackboneWeights:
    """Copy both: in Hugging Face's layout they may be views, which hold all of the file."""
    embed = weights.embed.clone()
    is_tied = weights.output is weights.embed
    return replace(weights, embed=embed, output=embed if is_tied else weights.output.clone())
