"""DiffusionGemma of random numbers, measured case by case; each figure is written when it is known.

A case that fails, for want of memory say, becomes a line too, and the next is measured.
"""

import gc
import platform
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import torch
import transformers
from psutil import virtual_memory

from intarsia.engine.errors import ModelError
from intarsia.engine.families.diffusion_gemma.attention import fold_heads
from intarsia.engine.families.diffusion_gemma.model import DiffusionGemmaBackbone
from intarsia.engine.families.diffusion_gemma.passes import DecoderPasses, DirectPasses
from intarsia.engine.families.diffusion_gemma.quantized.quantize import (
    quantize_gemma,
    require_low_bit,
)
from intarsia.research.model_cost.ceilings import Ceilings, measure_ceilings
from intarsia.research.model_cost.cuda_graph_passes import FixedPasses
from intarsia.research.model_cost.figure_lines import FigureLines, Line, Loaded, Machine, Missing
from intarsia.research.model_cost.gemma_bench import GemmaBench
from intarsia.research.model_cost.gemma_shape import gemma_config
from intarsia.research.model_cost.random_gemma import random_gemma
from intarsia.research.model_cost.stopwatch import forget_peak, peak_bytes
from intarsia.research.model_cost.options import Wanted, Way, Weights

_FIRST_CANVAS = 64
_FAULTS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""Whatever one case meets must not cost the others: the machine is lent for minutes."""


class _TimeIsUp(Exception):
    """Nothing new is begun."""


def measure_gemma(wanted: Wanted, lines: FigureLines) -> None:
    """Measure all that is wanted, as far as time and memory reach."""
    device = torch.device(wanted.device)
    ceilings = measure_ceilings(device, repeats=wanted.repeats)
    lines.write(_machine(device, ceilings))
    cases = _Cases(lines, device, until=time.monotonic() + wanted.seconds)
    for weights in wanted.weights:
        try:
            bench = _load(wanted, weights, device, ceilings, lines)
        except (ModelError, *_FAULTS) as fault:
            lines.write(Missing(case=f"{weights}, load", reason=_in_one_line(fault)))
            continue
        try:
            _measure(bench, wanted, cases)
        except _TimeIsUp:
            lines.write(Missing(case=f"{weights}, all that follows", reason="the time is up"))
            return
        del bench  # the next one needs its memory
        _free_memory(device)


class _Cases:
    """Measures one case after the other, and outlives those that fail."""

    def __init__(self, lines: FigureLines, device: torch.device, *, until: float) -> None:
        self._lines = lines
        self._device = device
        self._until = until

    def skip(self, case: str, fault: BaseException) -> None:
        """Write why there are no figures."""
        self._lines.write(Missing(case=case, reason=_in_one_line(fault)))

    def run(self, case: str, measure: Callable[[], Line]) -> None:
        """Write the case's line, or why there is none. Raises _TimeIsUp."""
        if time.monotonic() > self._until:
            raise _TimeIsUp
        try:
            self._lines.write(measure())
            return
        except _FAULTS as fault:
            self._lines.write(Missing(case=case, reason=_in_one_line(fault)))
        _free_memory(self._device)  # only here do the failed call's tensors go


def _measure(bench: GemmaBench, wanted: Wanted, cases: _Cases) -> None:
    for context in sorted(wanted.contexts):
        named = f"{bench.weights}, context {context}"
        bench.backbone.use(DirectPasses(bench.model))
        cases.run(f"{named}, prefill", partial(bench.prefill, context))
        for is_held in (False, True):
            cases.run(
                f"{named}, first pass, {'held' if is_held else 'cold'}",
                partial(bench.first_pass, context, canvas=_FIRST_CANVAS, is_held=is_held),
            )
        if bench.backbone.cached_tokens() != context:
            continue  # it does not fit, which is written
        for way, canvas in product(wanted.ways, wanted.canvases):
            _measure_canvas(bench, way, canvas, sorted(wanted.batches), cases, named)
            _free_memory(bench.backbone.device)


def _measure_canvas(
    bench: GemmaBench, way: Way, canvas: int, batches: list[int], cases: _Cases, named: str
) -> None:
    """The largest batch comes last: what it leaves behind is let go of with its passes."""
    try:
        bench.backbone.use(_passes(way, bench.model))
    except (ModelError, *_FAULTS) as fault:
        cases.skip(f"{named}, {way}, canvases of {canvas}", fault)
        return
    cases.run(f"{named}, {way}, steps of {canvas}", partial(bench.step, way, canvas=canvas))
    for batch in batches:
        cases.run(
            f"{named}, {way}, {batch} canvases of {canvas}",
            partial(bench.one_pass, way, canvas=canvas, batch=batch),
        )


def _passes(way: Way, model: Any) -> DecoderPasses:
    return DirectPasses(model) if way == "direct" else FixedPasses(model, has_graphs=way == "graph")


def _load(
    wanted: Wanted,
    weights: Weights,
    device: torch.device,
    ceilings: Ceilings,
    lines: FigureLines,
) -> GemmaBench:
    started = time.monotonic()
    forget_peak(device)
    if weights != "bf16":
        require_low_bit(weights, device)
    model = random_gemma(gemma_config(wanted.shape), device=device, dtype=torch.bfloat16)
    fold_heads(model)
    if weights != "bf16":
        quantize_gemma(model, weights, device)
        _free_memory(device)
    tensors = {tensor.data_ptr(): tensor for tensor in (*model.parameters(), *model.buffers())}
    lines.write(
        Loaded(
            model=f"DiffusionGemma, {wanted.shape} shape, random",
            weights=weights,
            seconds=time.monotonic() - started,
            weight_bytes=sum(tensor.nbytes for tensor in tensors.values()),
            peak_bytes=peak_bytes(device),
        )
    )
    return GemmaBench(
        model=model,
        backbone=DiffusionGemmaBackbone(model),
        weights=weights,
        ceilings=ceilings,
        repeats=wanted.repeats,
    )


def _machine(device: torch.device, ceilings: Ceilings) -> Machine:
    is_cuda = device.type == "cuda"
    return Machine(
        device=torch.cuda.get_device_name(device) if is_cuda else platform.machine(),
        torch=str(torch.__version__),
        transformers=transformers.__version__,
        memory_bytes=torch.cuda.mem_get_info(device)[1] if is_cuda else virtual_memory().total,
        copy_bytes_per_s=ceilings.copy_bytes_per_s,
        product_flops_per_s=ceilings.product_flops_per_s,
    )


def _free_memory(device: torch.device) -> None:
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()


def _in_one_line(fault: BaseException) -> str:
    return " ".join(f"{type(fault).__name__}: {fault}".split())[:300]
