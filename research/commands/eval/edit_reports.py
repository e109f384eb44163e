"""Report a run of ``eval --edits``, or a comparison of two: tables or JSON."""

from pathlib import Path

import click
import msgspec

from intarsia.cli.terminal import notices, output
from intarsia_research.evaluation.edits.compare_edits import compare_edits
from intarsia_research.evaluation.edits.edit_figures import edit_figures
from intarsia_research.evaluation.edits.edit_record import EditRun, read_edit_run, write_edit_run
from intarsia_research.evaluation.edits.report_edits_comparison import (
    changed_offers_table,
    edit_comparison_table,
)
from intarsia_research.evaluation.edits.report_edits_table import EXPLANATION, edit_tables


def report_edits(run: EditRun, *, as_json: bool) -> None:
    """Print the figures of a run."""
    figures = edit_figures(run.rows)
    if as_json:
        described = {
            "machine": run.machine,
            "intarsia": run.intarsia,
            "started": run.started,
            "settings": run.settings,
            "finder": run.finder,
            "figures": figures,
        }
        click.echo(msgspec.json.encode(described))
        return
    console = output()
    for table in edit_tables(figures):
        console.print(table)
    console.print(f"{run.finder.name}: {run.finder.way}, {run.finder.model}", style="dim")
    console.print(f"{EXPLANATION}\n{run.machine}", style="dim")


def report_edit_comparison(paths: tuple[Path, Path], *, as_json: bool) -> None:
    """Print the comparison of two saved runs."""
    first, second = (read_edit_run(path) for path in paths)
    comparison = compare_edits(first.rows, second.rows)
    if as_json:
        click.echo(msgspec.json.encode(comparison))
        return
    labels = [path.stem for path in paths]
    if labels[0] == labels[1]:
        labels = [f"{label} ({number})" for number, label in enumerate(labels, start=1)]
    console = output()
    console.print(edit_comparison_table(comparison, labels[0], labels[1]))
    if comparison.changed_offers:
        console.print(changed_offers_table(comparison, labels[0], labels[1]))
    for label, path, run in zip(labels, paths, (first, second), strict=True):
        finder = f"{run.finder.name}, {run.finder.model}"
        console.print(f"{label}: {path}, {finder}, {run.started}, {run.machine}", style="dim")


def save_edits(run: EditRun, path: Path | None) -> None:
    """Write the run if ``path`` names a file."""
    if path is not None:
        write_edit_run(run, path)
        notices().print(f"wrote the run {path}: {len(run.rows):,} cases")
