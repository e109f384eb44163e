"""Read the engine's command line into an EngineConfig.

Clients write the same flags in ``ipc/launch.py``; only ``--unmasking`` is for those who start the
engine themselves.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from intarsia.engine.config import Device, Dtype, EngineConfig, Quantize, Unmasking


def parse_arguments(arguments: Sequence[str] | None = None) -> EngineConfig:
    """Return the config of these flags (None: those of this process).

    A wrong flag ends the process with a usage line.
    """
    parser = _parser()
    flags = parser.parse_args(arguments)
    try:
        return EngineConfig(**vars(flags))
    except ValueError as error:
        parser.error(str(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m intarsia.engine",
        description="Hold a model in memory and fill holes for every client.",
        argument_default=argparse.SUPPRESS,  # EngineConfig has the defaults
    )
    parser.add_argument("--model", help="a catalog name, a folder or a hub id")
    parser.add_argument(
        "--adapter", type=Path, help="a safetensors file to use instead of the bundled adapter"
    )
    parser.add_argument("--device", choices=get_args(Device))
    parser.add_argument("--dtype", choices=get_args(Dtype))
    parser.add_argument("--quantize", choices=get_args(Quantize))
    parser.add_argument(
        "--unmasking",
        choices=get_args(Unmasking),
        help="the steps of `entropy` decoding: ours, or those of Hackable Diffusion (research)",
    )
    parser.add_argument(
        "--idle-timeout",
        dest="idle_timeout_s",
        type=float,
        metavar="SECONDS",
        help="end after this time without a request, to free the memory",
    )
    parser.add_argument("--cache-tokens", type=int, help="context tokens to keep in the KV cache")
    parser.add_argument(
        "--max-context-tokens", type=int, help="context tokens of a request at most"
    )
    return parser
