"""Time one pass of a causal backbone over a canvas, and the reading of its context.

Run it with ``python -m intarsia_research.model_cost.pass_cost``.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import get_args

import msgspec

from intarsia.engine.config import Dtype, EngineConfig
from intarsia.engine.errors import ModelError
from intarsia.engine.service.process import spin_briefly

MIN_REPEATS = 8


class PassFigures(msgspec.Struct, frozen=True, kw_only=True):
    """``pass_ms``: median milliseconds by number of rows, for all layers and the output matrix."""

    model: str
    context_tokens: int
    repeats: int
    pass_ms: dict[int, float]
    load_s: float
    read_ms: float = 0.0  # least time to read the context, in the chunks of the engine
    loaded_bytes: int  # resident memory after the load, libraries included
    working_bytes: int  # resident memory after the passes, which read the mapped weights


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code."""
    parsed = _parser().parse_args(arguments)
    spin_briefly()  # as the engine does
    from intarsia_research.model_cost.time_passes import time_passes

    try:
        figures = time_passes(parsed.model, parsed.dtype, max(MIN_REPEATS, parsed.repeats))
    except ModelError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    text = msgspec.json.encode(figures).decode() if parsed.json else _as_text(figures)
    sys.stdout.write(f"{text}\n")
    return 0


def _as_text(figures: PassFigures) -> str:
    lines = [f"{rows:3d} rows: {ms:.1f} ms" for rows, ms in figures.pass_ms.items()]
    lines += [f"reading {figures.context_tokens:,} tokens: {figures.read_ms / 1000:.2f} s"]
    lines += [f"load: {figures.load_s:.2f} s", f"memory: {figures.working_bytes / 1e9:.2f} GB"]
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m intarsia_research.model_cost.pass_cost", description=__doc__
    )
    parser.add_argument("--model", default=EngineConfig().model)
    parser.add_argument("--dtype", choices=get_args(Dtype), default=EngineConfig().dtype)
    parser.add_argument("--repeats", type=int, default=MIN_REPEATS)
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
