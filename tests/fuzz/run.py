"""Fuzzes all targets with a number of inputs in total, two at a time, and writes a table.

Each finding is kept under build/fuzz/findings; ``replay.py`` checks it again. The exit code is 1 if
there is one, or if a target did not get its inputs.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import bootstrap
from harness.job import Job
from harness.table import as_table
from harness.target import load_target, target_names

DEFAULT_INPUTS = 10_000_000
COVERAGE_SHARE = 0.02
"""Of the inputs, by default: counting branches makes each one several times slower."""
FEWEST_INPUTS = 1_000
MAX_PROCESSES = 2


def main() -> int:
    """Do what the command line says; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(target_names()))
    parser.add_argument("--inputs", type=int, default=DEFAULT_INPUTS, help="of all targets")
    parser.add_argument("--coverage-share", type=float, default=COVERAGE_SHARE)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("--folder", type=Path, default=bootstrap.ROOT / "build" / "fuzz")
    arguments = parser.parse_args()
    bootstrap.prepare()
    sys.stdout.write(f"seed {arguments.seed}\n")
    pairs = [_jobs_of(name, num_inputs, arguments) for name, num_inputs in _shares(arguments)]
    jobs = [job for pair in pairs for job in pair]
    with ThreadPoolExecutor(MAX_PROCESSES) as pool:
        for pair in pool.map(_run, pairs):
            for job in pair:
                done = f"{job.num_done:,} in {job.seconds:.0f} s"
                sys.stdout.write(f"{job.name}, {job.engine}: {done}\n")
            sys.stdout.flush()
            _write(jobs, arguments)
    findings = _write(jobs, arguments)
    for path in findings:
        sys.stdout.write(f"replay: .venv/bin/python tests/fuzz/replay.py {path}\n")
    is_whole = all(job.num_done >= job.num_inputs for job in jobs)
    return 0 if is_whole and not findings else 1


def _shares(arguments: argparse.Namespace) -> Sequence[tuple[str, int]]:
    """Return the targets and their inputs, the fewest first."""
    weights = {name: load_target(name).weight for name in arguments.targets or target_names()}
    whole = sum(weights.values())
    return [
        (name, max(round(arguments.inputs * weight / whole), 2 * FEWEST_INPUTS))
        for name, weight in sorted(weights.items(), key=lambda row: row[1])
    ]


def _jobs_of(name: str, num_inputs: int, arguments: argparse.Namespace) -> Sequence[Job]:
    """Return a target's jobs: with coverage first, whose inputs the other engine changes too."""
    num_covered = max(int(num_inputs * arguments.coverage_share), FEWEST_INPUTS)
    environment = bootstrap.ROOT / "build" / "fuzz" / "env"
    covered = Job(
        name=name,
        engine="coverage",
        num_inputs=num_covered,
        seed=arguments.seed,
        python=str(environment / "bin" / "python"),
        folder=arguments.folder,
    )
    rest = replace(covered, engine="mutation", num_inputs=num_inputs - num_covered)
    return covered, replace(rest, python=sys.executable)


def _run(jobs: Sequence[Job]) -> Sequence[Job]:
    for job in jobs:
        job.run()
    return jobs


def _write(jobs: Sequence[Job], arguments: argparse.Namespace) -> list[Path]:
    """Write the table of what is done by now; return the findings."""
    findings = sorted((arguments.folder / "findings").glob("*.input"))
    table = as_table(jobs, findings, arguments.seed)
    (arguments.folder / "table.md").write_text(table, encoding="utf-8")
    return findings


if __name__ == "__main__":
    sys.exit(main())
