"""Problems of the HumanEval Infilling benchmark (Bavarian et al. 2022, arXiv 2207.14255).

Reads one of its files into cases with tests. A problem has several holes.
"""

import gzip
import random
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.case import Case, CaseKind


def read_humaneval(file: Path, *, limit: int | None, seed: int) -> list[Case]:
    """Return the shuffled cases, at most ``limit``. Raise EvaluationFault if there are none."""
    cases = {case.id: case for case in _cases(file)}
    if not cases:
        raise EvaluationFault(f"{file} has no problems: give a file of the benchmark")
    shuffled = list(cases.values())
    random.Random(seed).shuffle(shuffled)
    return shuffled[:limit]


class _Problem(msgspec.Struct, frozen=True, kw_only=True):
    """A program with a hole, and the test that the whole program must pass."""

    task_id: str  # "set/HumanEval/number of the problem/hole"
    entry_point: str
    prompt: str
    suffix: str
    canonical_solution: str
    test: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Set:
    name: str
    kind: CaseKind


_SETS = {
    "SingleLineInfilling": _Set(name="humaneval-single-line", kind="line"),
    "RandomSpanInfilling": _Set(name="humaneval-random-span", kind="random_span"),
    "RandomSpanInfillingLight": _Set(name="humaneval-random-span-light", kind="random_span"),
}


def _cases(file: Path) -> Iterator[Case]:
    decoder = msgspec.json.Decoder(_Problem)
    for number, line in enumerate(_read(file).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            yield _case(decoder.decode(line))
        except (msgspec.DecodeError, ValueError) as error:
            raise EvaluationFault(
                f"line {number} of {file} is not a problem ({error}): give a file of the benchmark"
            ) from error


def _read(file: Path) -> bytes:
    try:
        data = file.read_bytes()
        return gzip.decompress(data) if file.suffix == ".gz" else data
    except (OSError, EOFError, zlib.error) as error:
        raise EvaluationFault(
            f"cannot read {file}: {error}; check the path and the file"
        ) from error


def _case(problem: _Problem) -> Case:
    """Return the case of a problem. Raise ValueError if its set is unknown."""
    kind_of_hole, _, rest = problem.task_id.partition("/")
    group, _, hole = rest.rpartition("/")
    if kind_of_hole not in _SETS or not group or not hole:
        raise ValueError(f"{problem.task_id!r} belongs to none of the sets {', '.join(_SETS)}")
    known = _SETS[kind_of_hole]
    truth, suffix = problem.canonical_solution, problem.suffix
    if known.kind == "line":
        truth, suffix = _without_line_end(problem), f"\n{suffix}"
    return Case(
        id=problem.task_id,
        set=known.name,
        kind=known.kind,
        language="python",
        path="solution.py",
        group=group,
        prefix=problem.prompt,
        truth=truth,
        suffix=suffix,
        test=f"\n{problem.test}\ncheck({problem.entry_point})\n",
    )


def _without_line_end(problem: _Problem) -> str:
    """Return the line without its line end, as an editor would ask for it."""
    line = problem.canonical_solution.removesuffix("\n")
    if "\n" in line or not (problem.prompt == "" or problem.prompt.endswith("\n")):
        raise ValueError(f"{problem.task_id!r} is not a whole line")
    return line
