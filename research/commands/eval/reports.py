"""Report a run of ``eval``: tables on the terminal, one line of JSON, an HTML page."""

from pathlib import Path

import click
import msgspec

from intarsia.cli.terminal import notices, output
from intarsia_research.evaluation.figures import SetFigures, figures_of
from intarsia_research.evaluation.record import Run, write_run
from intarsia_research.evaluation.report_html import page
from intarsia_research.evaluation.report_table import EXPLANATION, set_tables


def report(run: Run, *, html: Path | None, as_json: bool) -> None:
    """Print the figures of a run, and write its page if ``html`` names one."""
    figures = figures_of(run.rows)
    write_page(run, html, figures)
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


def write_page(run: Run, html: Path | None, figures: tuple[SetFigures, ...] | None = None) -> None:
    """Write the page if ``html`` names one."""
    if html is not None:
        html.write_text(page(run, figures or figures_of(run.rows)), encoding="utf-8")
        notices().print(f"wrote the page {html}")


def save(run: Run, path: Path | None) -> None:
    """Write the run if ``path`` names a file."""
    if path is not None:
        write_run(run, path)
        notices().print(f"wrote the run {path}: {len(run.rows):,} answers")
