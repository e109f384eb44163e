"""``eval --compare``: two runs, or two systems of one, compared case by case."""

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from intarsia.cli.terminal import output
from intarsia_research.evaluation.compare import Comparison
from intarsia_research.evaluation.compare_fills import compare_fills, rows_of
from intarsia_research.evaluation.edits.compare_edits import compare_edits
from intarsia_research.evaluation.edits.edit_record import read_edit_run
from intarsia_research.evaluation.record import Run, SystemInfo, read_run
from intarsia_research.evaluation.report_comparison import comparison_table, discordant_table


def report_comparison(paths: tuple[Path, Path], systems: Sequence[str], *, as_json: bool) -> None:
    """Print the comparison.

    ``systems`` names one system for both sides, or one for each; by default the first of each run.
    """
    names = [*systems, *systems] if len(systems) == 1 else [*systems]
    sides = [
        _Side(path, read_run(path), name)
        for path, name in zip(paths, names or (None, None), strict=True)
    ]
    first, second = sides
    comparison = compare_fills(rows_of(first.run, first.system), rows_of(second.run, second.system))
    if as_json:
        sides_json = {"first": first.described(), "second": second.described()}
        click.echo(msgspec.json.encode(sides_json | msgspec.to_builtins(comparison)))
        return
    labels = _labels(first, second)
    show_comparison(comparison, labels, cases="holes")
    for side, label in zip(sides, labels, strict=True):
        output().print(f"{label}: {side.in_words()}", style="dim")


def report_edit_comparison(paths: tuple[Path, Path], *, as_json: bool) -> None:
    """Print the comparison of two saved runs of edits."""
    first, second = (read_edit_run(path) for path in paths)
    comparison = compare_edits(first.rows, second.rows)
    if as_json:
        click.echo(msgspec.json.encode(comparison))
        return
    labels = (paths[0].stem, paths[1].stem)
    if labels[0] == labels[1]:
        labels = (f"{labels[0]} (1)", f"{labels[1]} (2)")
    show_comparison(comparison, labels, cases="cases")
    for label, path, run in zip(labels, paths, (first, second), strict=True):
        finder = f"{run.finder.name}, {run.finder.model}"
        output().print(f"{label}: {path}, {finder}, {run.started}, {run.machine}", style="dim")


def show_comparison(comparison: Comparison, labels: tuple[str, str], *, cases: str) -> None:
    """Print the tables of a comparison."""
    output().print(comparison_table(comparison, *labels, cases=cases))
    if comparison.discordant:
        output().print(discordant_table(comparison, *labels))


class _Side:
    """One side of the comparison: one system of one run."""

    def __init__(self, path: Path, run: Run, system: str | None) -> None:
        self.path = path
        self.run = run
        self.system = system

    @property
    def info(self) -> SystemInfo | None:
        infos = self.run.systems
        if self.system is None:
            return infos[0] if infos else None
        return next((info for info in infos if info.name == self.system), None)

    @property
    def name(self) -> str:
        return self.info.name if self.info else "no system"

    def described(self) -> dict[str, object]:
        return {
            "file": str(self.path),
            "started": self.run.started,
            "machine": self.run.machine,
            "system": self.info,
        }

    def in_words(self) -> str:
        way = f"{self.info.way}, {self.info.model or 'no model'}, " if self.info else ""
        return f"{self.name} of {self.path}, {way}{self.run.started}, {self.run.machine}"


def _labels(first: _Side, second: _Side) -> tuple[str, str]:
    """Return a label for each side that tells it apart: system, file or number."""
    if first.name != second.name:
        return first.name, second.name
    if first.path.stem != second.path.stem:
        return first.path.stem, second.path.stem
    return f"{first.name} (1)", f"{second.name} (2)"
