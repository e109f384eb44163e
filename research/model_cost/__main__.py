"""Measure what DiffusionGemma costs on this machine, with random weights of its shape.

Run it with ``python -m intarsia_research.model_cost``. Each figure is a line of JSON, written as
soon as it is measured. README.md beside this file says what to run in which order.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from intarsia.engine.service.native_libraries import spin_briefly
from intarsia_research.model_cost.figure_lines import FigureLines
from intarsia_research.model_cost.options import MeasureOptions, ShapeName, Way, Weights


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code."""
    parser = _parser()
    parsed = parser.parse_args(arguments)
    try:
        options = MeasureOptions(**vars(parsed))
    except ValueError as error:
        parser.error(str(error))
    spin_briefly()  # as the engine does
    import torch

    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error("no CUDA device is usable here: see `nvidia-smi`, or try `--device cpu`")
    from intarsia_research.model_cost.measure_gemma import measure_gemma

    measure_gemma(options, FigureLines(options.file))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m intarsia_research.model_cost",
        description=__doc__,
        argument_default=argparse.SUPPRESS,  # defaults are those of MeasureOptions
    )
    parser.add_argument("--shape", choices=get_args(ShapeName))
    parser.add_argument("--device", choices=("cuda", "cpu"))
    parser.add_argument("--weights", type=_names, metavar=",".join(get_args(Weights)))
    parser.add_argument("--way", dest="ways", type=_names, metavar=",".join(get_args(Way)))
    parser.add_argument("--canvas", dest="canvases", type=_numbers, metavar="32,64,…")
    parser.add_argument("--context", dest="contexts", type=_numbers, metavar="1024,8192,…")
    parser.add_argument("--batch", dest="batches", type=_numbers, metavar="1,4,…")
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--seconds", type=float, help="start no measurement after this time")
    parser.add_argument("--json-lines", dest="file", type=Path, help="append lines to this file")
    return parser


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(","))


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


if __name__ == "__main__":
    sys.exit(main())
