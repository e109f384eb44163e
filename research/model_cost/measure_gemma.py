"""Measure a DiffusionGemma with random weights, case by case.

A case that fails, for example for lack of memory, becomes a line with the reason, and the next one
is measured.
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
from intarsia.engine.families.diffusion_gemma.backbone.attention import fold_heads
from intarsia.engine.families.diffusion_gemma.backbone.model import DiffusionGemmaBackbone
from intarsia.engine.families.diffusion_gemma.backbone.passes import DecoderPasses, DirectPasses
from intarsia.engine.families.diffusion_gemma.quantized.quantize import (
    quantize_gemma,
    require_low_bit,
)
from intarsia_research.model_cost.ceilings import Ceilings, measure_ceilings
from intarsia_research.model_cost.cuda_graph_passes import FixedShapePasses
from intarsia_research.model_cost.figure_lines import (
    FigureLines,
    Line,
    LoadFigures,
    Machine,
    Missing,
)
from intarsia_research.model_cost.gemma_bench import GemmaBench
from intarsia_research.model_cost.gemma_shape import gemma_config
from intarsia_research.model_cost.options import MeasureOptions, Way, Weights
from intarsia_research.model_cost.random_gemma import random_gemma
from intarsia_research.model_cost.stopwatch import forget_peak, peak_bytes

_FIRST_CANVAS = 64
_CASE_ERRORS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""An error in one case must not end the run: the machine is lent for minutes."""


class _TimeIsUp(Exception):
    """No further case is started."""


def measure_gemma(options: MeasureOptions, lines: FigureLines) -> None:
    """Measure all cases of the options, as far as time and memory allow."""
    device = torch.device(options.device)
    ceilings = measure_ceilings(device, repeats=options.repeats)
    lines.write(_machine(device, ceilings))
    cases = _Cases(lines, device, until=time.monotonic() + options.seconds)
    for weights in options.weights:
        try:
            bench = _load(options, weights, device, ceilings, lines)
        except (ModelError, *_CASE_ERRORS) as error:
            lines.write(Missing(case=f"{weights}, load", reason=_one_line(error)))
            continue
        try:
            _measure(bench, options, cases)
        except _TimeIsUp:
            lines.write(Missing(case=f"{weights}, all that follows", reason="the time is up"))
            return
        del bench  # the next model needs its memory
        _free_memory(device)


class _Cases:
    """Measures one case after the other; a failing case does not end the run."""

    def __init__(self, lines: FigureLines, device: torch.device, *, until: float) -> None:
        self._lines = lines
        self._device = device
        self._until = until

    def skip(self, case: str, error: BaseException) -> None:
        """Write why a case has no figures."""
        self._lines.write(Missing(case=case, reason=_one_line(error)))

    def run(self, case: str, measure: Callable[[], Line]) -> None:
        """Write the case's line, or why there is none. Raises _TimeIsUp."""
        if time.monotonic() > self._until:
            raise _TimeIsUp
        try:
            self._lines.write(measure())
            return
        except _CASE_ERRORS as error:
            self._lines.write(Missing(case=case, reason=_one_line(error)))
        _free_memory(self._device)  # the failed call's tensors are only freed here


def _measure(bench: GemmaBench, options: MeasureOptions, cases: _Cases) -> None:
    for context in sorted(options.contexts):
        case = f"{bench.weights}, context {context}"
        bench.backbone.use(DirectPasses(bench.model))
        cases.run(f"{case}, prefill", partial(bench.prefill, context))
        for is_held in (False, True):
            cases.run(
                f"{case}, first pass, {'held' if is_held else 'cold'}",
                partial(bench.first_pass, context, canvas=_FIRST_CANVAS, is_held=is_held),
            )
        if bench.backbone.cached_tokens() != context:
            continue  # it does not fit in memory, as the line says
        for way, canvas in product(options.ways, options.canvases):
            _measure_canvas(bench, way, canvas, sorted(options.batches), cases, case)
            _free_memory(bench.backbone.device)


def _measure_canvas(
    bench: GemmaBench, way: Way, canvas: int, batches: list[int], cases: _Cases, case: str
) -> None:
    """Measure batches in ascending order: the memory of the largest is freed with the passes."""
    try:
        bench.backbone.use(_passes(way, bench.model))
    except (ModelError, *_CASE_ERRORS) as error:
        cases.skip(f"{case}, {way}, canvases of {canvas}", error)
        return
    cases.run(f"{case}, {way}, steps of {canvas}", partial(bench.step, way, canvas=canvas))
    for batch in batches:
        cases.run(
            f"{case}, {way}, {batch} canvases of {canvas}",
            partial(bench.one_pass, way, canvas=canvas, batch=batch),
        )


def _passes(way: Way, model: Any) -> DecoderPasses:
    if way == "direct":
        return DirectPasses(model)
    return FixedShapePasses(model, has_graphs=way == "graph")


def _load(
    options: MeasureOptions,
    weights: Weights,
    device: torch.device,
    ceilings: Ceilings,
    lines: FigureLines,
) -> GemmaBench:
    started = time.monotonic()
    forget_peak(device)
    if weights != "bf16":
        require_low_bit(weights, device)
    model = random_gemma(gemma_config(options.shape), device=device, dtype=torch.bfloat16)
    fold_heads(model)
    if weights != "bf16":
        quantize_gemma(model, weights, device)
        _free_memory(device)
    tensors = {tensor.data_ptr(): tensor for tensor in (*model.parameters(), *model.buffers())}
    lines.write(
        LoadFigures(
            model=f"DiffusionGemma, {options.shape} shape, random",
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
        repeats=options.repeats,
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


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
