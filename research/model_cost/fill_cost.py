"""Time single-line holes filled by the default model: p50 and p95.

Run it with ``python -m intarsia_research.model_cost.fill_cost``.

On a machine without the weights, `--tokenizer FILE` uses random weights of the same shape: a pass
then costs the same, but the number of passes a hole means nothing.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from intarsia.engine.config import Device, Dtype, EngineConfig
from intarsia.engine.errors import ModelError
from intarsia.engine.model_store.catalog import DEFAULT_MODEL, find_model
from intarsia.engine.service.native_libraries import spin_briefly
from intarsia_research.model_cost.figure_lines import FigureLines


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code."""
    parsed = _parser().parse_args(arguments)
    spin_briefly()  # as the engine does
    try:
        _measure(parsed, FigureLines(parsed.json_lines))
    except (ModelError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _measure(parsed: argparse.Namespace, lines: FigureLines) -> None:
    from intarsia_research.model_cost.measure_holes import measure_holes
    from intarsia_research.model_cost.random_backbone import write_random_backbone

    config = EngineConfig(model=parsed.model, device=parsed.device, dtype=parsed.dtype)
    if parsed.tokenizer is None:
        measure_holes(config, lines, num_holes=parsed.holes, has_real_weights=True)
        return
    row = find_model(DEFAULT_MODEL)
    with tempfile.TemporaryDirectory() as parent:
        folder = write_random_backbone(Path(parent) / f"random-{DEFAULT_MODEL}", parsed.tokenizer)
        config = EngineConfig(
            model=str(folder),
            adapter=row.adapter if row else None,
            device=parsed.device,
            dtype=parsed.dtype,
        )
        measure_holes(config, lines, num_holes=parsed.holes, has_real_weights=False)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m intarsia_research.model_cost.fill_cost", description=__doc__
    )
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--tokenizer", type=Path, help="a tokenizer.json: use random weights")
    parser.add_argument("--device", choices=get_args(Device), default="auto")
    parser.add_argument("--dtype", choices=get_args(Dtype), default="auto")
    parser.add_argument("--holes", type=int, default=40, help="number of holes, 2 or more")
    parser.add_argument("--json-lines", type=Path, help="append lines to this file")
    return parser


if __name__ == "__main__":
    sys.exit(main())
