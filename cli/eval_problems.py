"""Problems of the HumanEval Infilling benchmark, read from one of its files.

Bavarian et al. 2022, arXiv 2207.14255. Knows nothing of engines.
"""

import gzip
import random
from collections.abc import Sequence
from pathlib import Path

import msgspec

from intarsia.cli.faults import CliError


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """A program with a whole line cut out, and the test that the program must pass."""

    task_id: str
    entry_point: str
    prompt: str
    suffix: str
    canonical_solution: str
    test: str

    @property
    def truth(self) -> str:
        return self.canonical_solution

    def program(self, fill: str) -> str:
        """Return the program with its test; it runs without an error where the fill is right."""
        whole = f"{self.prompt}{fill}\n{self.suffix}"
        return f"{whole}\n{self.test}\ncheck({self.entry_point})\n"


def read_problems(file: Path, *, limit: int, seed: int) -> list[Problem]:
    """Return so many problems of a shuffle. Raises CliError where the file holds none."""
    problems = _decode(file, _read(file))
    for problem in problems:
        _require_whole_line(file, problem)
    if not problems:
        raise CliError(f"{file} holds no problem: give a file of the benchmark")
    random.Random(seed).shuffle(problems)
    return problems[:limit]


def _read(file: Path) -> Sequence[bytes]:
    try:
        data = file.read_bytes()
        if file.suffix == ".gz":
            data = gzip.decompress(data)
    except (OSError, EOFError) as error:
        raise CliError(f"cannot read {file}: {error}; check the path and the file") from error
    return [line for line in data.splitlines() if line.strip()]


def _decode(file: Path, lines: Sequence[bytes]) -> list[Problem]:
    decoder = msgspec.json.Decoder(Problem)
    problems = []
    for number, line in enumerate(lines, start=1):
        try:
            problems.append(decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise CliError(
                f"line {number} of {file} is no problem ({error}): give a file of the benchmark"
            ) from error
    return problems


def _require_whole_line(file: Path, problem: Problem) -> None:
    is_at_line_start = not problem.prompt or problem.prompt.endswith("\n")
    if not is_at_line_start or "\n" in problem.canonical_solution.removesuffix("\n"):
        raise CliError(
            f"{problem.task_id} in {file} is no whole line: give the single-line problems"
        )
