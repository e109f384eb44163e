"""Report a run of ``eval``: tables on the terminal, or one line of JSON."""

from pathlib import Path

import click
import msgspec

from intarsia.cli.terminal import notices, output
from intarsia_research.evaluation.edits.edit_figures import edit_figures
from intarsia_research.evaluation.edits.edit_record import EditRun
from intarsia_research.evaluation.edits.report_edits_table import EDIT_EXPLANATION, edit_tables
from intarsia_research.evaluation.figures import figures_of
from intarsia_research.evaluation.record import Run, write_saved
from intarsia_research.evaluation.report_table import EXPLANATION, set_tables

_HEADER = ("machine", "intarsia", "started", "settings")


def report(run: Run | EditRun, *, as_json: bool) -> None:
    """Print the figures of a run."""
    if isinstance(run, EditRun):
        figures = edit_figures(run.rows)
        own: dict[str, object] = {"finder": run.finder, "figures": figures}
        tables = [*edit_tables(figures)]
        systems, explanation = [run.finder], EDIT_EXPLANATION
    else:
        sets = figures_of(run.rows)
        own = {"systems": run.systems, "sets": sets}
        tables = [table for one in sets for table in set_tables(one)]
        systems, explanation = [*run.systems], EXPLANATION
    if as_json:
        header = {name: getattr(run, name) for name in _HEADER}
        click.echo(msgspec.json.encode(header | own))
        return
    console = output()
    for table in tables:
        console.print(table)
    for info in systems:
        console.print(f"{info.name}: {info.way}, {info.model or 'no model'}", style="dim")
    console.print(f"{explanation}\n{run.machine}", style="dim")


def save(run: Run | EditRun, path: Path | None) -> None:
    """Write the run if ``path`` names a file."""
    if path is not None:
        write_saved(run, path)
        words = "cases" if isinstance(run, EditRun) else "answers"
        notices().print(f"wrote the run {path}: {len(run.rows):,} {words}")
