"""Report a run of ``eval``: tables on the terminal, or one line of JSON."""

from pathlib import Path

import click
import msgspec

from intarsia.cli.terminal import notices, output
from intarsia_research.evaluation.figures import figures_of
from intarsia_research.evaluation.record import Run, write_run
from intarsia_research.evaluation.report_table import EXPLANATION, set_tables


def report(run: Run, *, as_json: bool) -> None:
    """Print the figures of a run."""
    figures = figures_of(run.rows)
    if as_json:
        described = {
            "machine": run.machine,
            "intarsia": run.intarsia,
            "started": run.started,
            "settings": run.settings,
            "systems": run.systems,
            "sets": figures,
        }
        click.echo(msgspec.json.encode(described))
        return
    console = output()
    for set_figures in figures:
        for table in set_tables(set_figures):
            console.print(table)
    for info in run.systems:
        console.print(f"{info.name}: {info.way}, {info.model or 'no model'}", style="dim")
    console.print(f"{EXPLANATION}\n{run.machine}", style="dim")


def save(run: Run, path: Path | None) -> None:
    """Write the run if ``path`` names a file."""
    if path is not None:
        write_run(run, path)
        notices().print(f"wrote the run {path}: {len(run.rows):,} answers")
