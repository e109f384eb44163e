"""A run as it is written to a file: every answer to every case, and all that is needed to judge it.

One JSON object. Figures are worked out from it, never stored in it.
"""

from pathlib import Path
from typing import Any

import msgspec

from intarsia.research.evaluation.judge import Judgement

RUN_VERSION = 1


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One case, one contestant."""

    case: str
    set: str
    kind: str
    language: str
    group: str
    contestant: str
    before: str  # the end of the prefix, to be shown
    after: str  # the beginning of the suffix
    truth: str
    text: str
    reason: str | None
    is_failure: bool
    verdict: Judgement
    ms: float
    engine_ms: float | None = None
    read_ms: float | None = None  # of them, to read what was not held of the context
    passes: int | None = None
    num_tokens: int | None = None
    mean_entropy: float | None = None
    num_read: int | None = None
    num_reused: int | None = None


class SystemInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Who filled, and how."""

    name: str  # unique in a run: "speculative", "entropy", "transformers"
    way: str  # "language server", "direct", "transformers", "llama.cpp"
    model: str | None
    details: dict[str, str]  # settings, versions, digests


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """All rows, in the order in which they were made."""

    version: int = RUN_VERSION
    started: str  # ISO 8601, UTC
    machine: str
    intarsia: str  # version
    settings: dict[str, Any]  # as the command line had them
    contestants: tuple[SystemInfo, ...]
    rows: tuple[Row, ...]


def read_run(path: Path) -> Run:
    """Read a run file. Raises OSError, or msgspec.DecodeError where it is none."""
    return msgspec.json.decode(path.read_bytes(), type=Run)


def write_run(run: Run, path: Path) -> None:
    """Write it whole, or not at all."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_bytes(msgspec.json.encode(run))
    partial.replace(path)
