"""Where a run's figures go: the terminal, a line of JSON, a page; and runs read back from files."""

from pathlib import Path

import click
import msgspec

from intarsia.cli.errors import CliError
from intarsia.cli.terminal import notices, output
from intarsia.research.evaluation.figures import SetFigures, figures_of
from intarsia.research.evaluation.record import RUN_VERSION, Run, read_run, write_run
from intarsia.research.evaluation.report_html import page
from intarsia.research.evaluation.report_table import EXPLANATION, set_tables


def report(run: Run, *, html: Path | None, as_json: bool) -> None:
    """Print the figures of a run, and write its page."""
    figures = figures_of(run.rows)
    write_page(run, html, figures)
    if as_json:
        about = {
            "machine": run.machine,
            "intarsia": run.intarsia,
            "started": run.started,
            "settings": run.settings,
            "contestants": run.contestants,
            "sets": figures,
        }
        click.echo(msgspec.json.encode(about))
        return
    console = output()
    for one in figures:
        for table in set_tables(one):
            console.print(table)
    for info in run.contestants:
        console.print(f"{info.name}: {info.way}, {info.model or 'no model'}", style="dim")
    console.print(f"{EXPLANATION}\n{run.machine}", style="dim")


def write_page(run: Run, html: Path | None, figures: tuple[SetFigures, ...] | None = None) -> None:
    """Write the page where one is asked for."""
    if html is not None:
        html.write_text(page(run, figures or figures_of(run.rows)), encoding="utf-8")
        notices().print(f"the page lies in {html}")


def save(run: Run, path: Path | None) -> None:
    """Write the run where that is asked for."""
    if path is not None:
        write_run(run, path)
        notices().print(f"the run lies in {path}: {len(run.rows):,} answers")


def load(path: Path) -> Run:
    """Read a run. Raises CliError where the file holds none."""
    try:
        run = read_run(path)
    except msgspec.DecodeError as error:
        raise CliError(
            f"{path} is no run of `intarsia eval` ({error}): give a file that --save wrote"
        ) from error
    if run.version != RUN_VERSION:
        raise CliError(
            f"{path} is a run of version {run.version}, known is {RUN_VERSION}: make it again"
        )
    return run
