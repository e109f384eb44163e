"""A file of a benchmark as shuffled cases: HumanEval Infilling or SAFIM, a JSON object a line."""

import gzip
import random
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.sets.humaneval import humaneval_case
from intarsia_research.evaluation.sets.safim import safim_case


def read_problems(file: Path, *, limit: int | None, seed: int) -> list[Case]:
    """Return the shuffled cases, at most ``limit``. Raise EvaluationFault if there are none."""
    cases = {(case.set, case.id): case for case in _cases(file)}
    if not cases:
        raise EvaluationFault(f"{file} has no problems: give a file of the benchmark")
    shuffled = list(cases.values())
    random.Random(seed).shuffle(shuffled)
    return shuffled[:limit]


def _cases(file: Path) -> Iterator[Case]:
    for number, line in enumerate(_read(file).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            yield safim_case(line) if b'"truth"' in line else humaneval_case(line)
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
