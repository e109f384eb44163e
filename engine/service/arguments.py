"""The engine's command line → EngineConfig. Clients write the same flags in ipc/launch.py."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from intarsia.engine.config import Device, Dtype, EngineConfig, Quantize


def parse_arguments(arguments: Sequence[str] | None = None) -> EngineConfig:
    """Read the flags (None: of this process). Ends the process with a usage line on a mistake."""
    parser = _parser()
    found = parser.parse_args(arguments)
    try:
        return EngineConfig(**vars(found))
    except ValueError as error:
        parser.error(str(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m intarsia.engine",
        description="The resident engine: holds the model and fills holes for every client.",
        argument_default=argparse.SUPPRESS,  # what is not said is left to EngineConfig
    )
    parser.add_argument("--model", help="a name of the catalog, a folder, or a hub id")
    parser.add_argument(
        "--adapter", type=Path, help="a safetensors file instead of the bundled one"
    )
    parser.add_argument("--device", choices=get_args(Device))
    parser.add_argument("--dtype", choices=get_args(Dtype))
    parser.add_argument("--quantize", choices=get_args(Quantize))
    parser.add_argument(
        "--idle-timeout",
        dest="idle_timeout_s",
        type=float,
        metavar="SECONDS",
        help="end after so long without a request, and free the memory",
    )
    parser.add_argument(
        "--cache-tokens", type=int, help="context tokens whose keys and values are held"
    )
    parser.add_argument("--max-context-tokens", type=int, help="context tokens a request may have")
    return parser
