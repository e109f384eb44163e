"""``python -m intarsia.research.model_cost.__main__``: what DiffusionGemma costs on this machine.

Its numbers are random, so no released model is needed; each figure is a line of JSON, written when
it is known. docs/gpu.md says what to run in which order.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from intarsia.engine.service.native_libraries import spin_briefly
from intarsia.research.model_cost.figure_lines import FigureLines
from intarsia.research.model_cost.options import ShapeName, Wanted, Way, Weights


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code."""
    parser = _parser()
    found = parser.parse_args(arguments)
    try:
        wanted = Wanted(**vars(found))
    except ValueError as error:
        parser.error(str(error))
    spin_briefly()  # as in the engine
    import torch

    if wanted.device == "cuda" and not torch.cuda.is_available():
        parser.error("no CUDA device is usable here: see `nvidia-smi`, or try `--device cpu`")
    from intarsia.research.model_cost.measure_gemma import measure_gemma

    measure_gemma(wanted, FigureLines(wanted.file))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m intarsia.research.model_cost.__main__",
        description=__doc__,
        argument_default=argparse.SUPPRESS,  # what is not said is left to Wanted
    )
    parser.add_argument("--shape", choices=get_args(ShapeName))
    parser.add_argument("--device", choices=("cuda", "cpu"))
    parser.add_argument("--weights", type=_names, metavar=",".join(get_args(Weights)))
    parser.add_argument("--way", dest="ways", type=_names, metavar=",".join(get_args(Way)))
    parser.add_argument("--canvas", dest="canvases", type=_numbers, metavar="32,64,…")
    parser.add_argument("--context", dest="contexts", type=_numbers, metavar="1024,8192,…")
    parser.add_argument("--batch", dest="batches", type=_numbers, metavar="1,4,…")
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--seconds", type=float, help="after so long nothing new is begun")
    parser.add_argument("--json-lines", dest="file", type=Path, help="lines are added to this file")
    return parser


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(","))


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


if __name__ == "__main__":
    sys.exit(main())
