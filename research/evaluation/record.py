"""A run as a file: one JSON object with every answer to every case.

Figures are computed from it and never stored in it.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.judge import Judgement

RUN_VERSION = 2


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of one system to one case, judged."""

    case: str
    set: str
    kind: str
    language: str
    group: str
    system: str
    before: str  # the end of the prefix, for display
    after: str  # the beginning of the suffix, for display
    truth: str
    text: str
    reason: str | None
    is_failure: bool
    judgement: Judgement
    ms: float
    engine_ms: float | None = None
    read_ms: float | None = None  # the prefill's part of engine_ms
    num_forwards: int | None = None
    num_tokens: int | None = None
    mean_entropy: float | None = None
    num_read: int | None = None
    num_reused: int | None = None
    num_project: int | None = None


class SystemInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A system of a run, and how it was set up."""

    name: str  # unique in a run: "speculative", "autoregressive", "transformers"
    way: str  # "language server", "direct", "transformers", "llama.cpp"
    model: str | None
    details: dict[str, str]  # settings, versions, digests


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A run. The rows are in the order in which they were made."""

    version: int = RUN_VERSION  # older files have other fields
    started: str  # ISO 8601, UTC
    machine: str
    intarsia: str  # version
    settings: dict[str, Any]  # as given on the command line
    systems: tuple[SystemInfo, ...]
    rows: tuple[Row, ...]


@dataclass(kw_only=True, slots=True)
class Recording:
    """A run in progress: whatever ends it, its rows so far can be saved."""

    machine: str
    settings: dict[str, Any]
    started: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    systems: list[SystemInfo] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    def as_run(self) -> Run:
        """Return the run as recorded so far."""
        return Run(
            started=self.started,
            machine=self.machine,
            intarsia=version("intarsia"),
            settings=self.settings,
            systems=tuple(self.systems),
            rows=tuple(self.rows),
        )


def read_run(path: Path) -> Run:
    """Read a run file. Raise EvaluationFault if it is no run, or a run of another version."""
    return read_saved(path, Run, version=RUN_VERSION, of="holes")


RunOf: TypeAlias = Literal["holes", "edits", "typing"]
T = TypeVar("T", bound=msgspec.Struct)


class _Header(msgspec.Struct):
    """The fields that a run of any version has."""

    version: int
    of: RunOf = "holes"


def run_is_of(path: Path) -> RunOf:
    """Return what a saved run is of. Raise EvaluationFault if the file is no run."""
    return _decoded(path, _Header).of


def read_saved(path: Path, type_: type[T], *, version: int, of: RunOf) -> T:
    """Return the run in a file. Raise EvaluationFault if it is none, or one of another version."""
    header = _decoded(path, _Header)
    if header.of != of:
        raise EvaluationFault(f"{path} is a run of {header.of}, not of {of}: give one of {of}")
    if header.version != version:
        raise EvaluationFault(
            f"{path} is a run of version {header.version}, this intarsia reads version {version}: "
            "run `eval --save` again"
        )
    return _decoded(path, type_)


def write_saved(run: msgspec.Struct, path: Path) -> None:
    """Write a run to a file in one step: a reader never sees half of it."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_bytes(msgspec.json.encode(run))
    partial.replace(path)


def _decoded(path: Path, type_: type[T]) -> T:
    try:
        return msgspec.json.decode(path.read_bytes(), type=type_)
    except msgspec.DecodeError as error:
        raise EvaluationFault(
            f"{path} is no run of `eval` ({error}): give a file that --save wrote"
        ) from error
