"""Time single-line holes through the engine's filler, on one device."""

from pathlib import Path
from statistics import median, quantiles

from intarsia.engine.config import EngineConfig
from intarsia.engine.fill_control import FillControl
from intarsia.engine.filler import Filler
from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.engine.service.load_filler import load_filler
from intarsia_research.model_cost.figure_lines import FigureLines, Holes
from intarsia_research.model_cost.line_holes import line_holes

_NUM_WARM_UPS = 3


def measure_holes(
    config: EngineConfig, lines: FigureLines, *, num_holes: int, has_real_weights: bool
) -> None:
    """Fill each hole with an empty cache, then again with its context cached.

    Raises ModelError.
    """
    filler = load_filler(config, config.model, lambda stage, fraction: None)
    holes = line_holes(num_holes + _NUM_WARM_UPS)
    for hole in holes[:_NUM_WARM_UPS]:
        _fill(filler, hole)
    cold, held = [], []
    for hole in holes[_NUM_WARM_UPS:]:
        cold.append(_fill(filler, hole))
        held.append(_fill(filler, hole))
    for filled, is_held in ((cold, False), (held, True)):
        lines.write(_figures(filler, filled, is_held=is_held, has_real_weights=has_real_weights))


def _fill(filler: Filler, hole: Fill) -> Filled:
    return filler.fill(hole, FillControl())


def _figures(
    filler: Filler, filled: list[Filled], *, is_held: bool, has_real_weights: bool
) -> Holes:
    totals = [fill.ms.total for fill in filled]
    return Holes(
        model=Path(filler.info.name).name,
        device=filler.info.device,
        dtype=filler.info.dtype,
        has_real_weights=has_real_weights,
        context_is_held=is_held,
        num_holes=len(filled),
        p50=median(totals),
        p95=quantiles(totals, n=20)[-1],
        prefill_p50=median(fill.ms.prefill for fill in filled),
        pass_p50=median(fill.ms.denoise / max(fill.num_forwards, 1) for fill in filled),
        passes_p50=median(fill.num_forwards for fill in filled),
    )
