"""Writes what a run has done as a table in Markdown: inputs by target and engine, and findings."""

from collections.abc import Sequence
from pathlib import Path

from harness.job import Job
from harness.target import load_target

HEAD = (
    "| target | at random | a second | with coverage | a second | findings |\n"
    "|---|--:|--:|--:|--:|--:|\n"
)


def as_table(jobs: Sequence[Job], findings: Sequence[Path], seed: int) -> str:
    """Return the table, and the sum above it."""
    names = sorted({job.name for job in jobs})
    rows = "".join(_row(name, jobs, findings) for name in names)
    total = sum(job.num_done for job in jobs)
    head = f"{total:,} inputs, {len(findings)} findings, seed {seed}\n\n"
    problems = "".join(f"\n{job.name}, {job.engine}: {it}" for job in jobs for it in job.problems)
    return head + HEAD + rows + problems


def _row(name: str, jobs: Sequence[Job], findings: Sequence[Path]) -> str:
    cells = []
    for engine in ("mutation", "coverage"):
        mine = [job for job in jobs if job.name == name and job.engine == engine]
        num_done, seconds = sum(it.num_done for it in mine), sum(it.seconds for it in mine)
        cells += [f"{num_done:,}", f"{num_done / seconds:,.0f}" if seconds else "–"]
    num_findings = sum(path.name.startswith(f"{name}.") for path in findings)
    return f"| {load_target(name).about} | {' | '.join(cells)} | {num_findings} |\n"
