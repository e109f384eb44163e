"""Files that hold one run: JSON with a version, and a word for what the run is of."""

from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

import msgspec

from intarsia_research.errors import EvaluationFault

RunOf: TypeAlias = Literal["holes", "edits"]
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
