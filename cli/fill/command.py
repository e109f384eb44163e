"""``intarsia fill``: fill holes of one file and show, print or write the fills."""

import asyncio
from pathlib import Path
from typing import Any

import click

from intarsia.cli.errors import ExitCode
from intarsia.cli.fill.job import FilledFile, FillJob, run_job, run_repair, with_imports
from intarsia.cli.fill.source_file import SourceFile, read_source, require_writable, write_source
from intarsia.cli.fill.where import place_options, read_where
from intarsia.cli.options import fill_options, language_option
from intarsia.cli.project import open_project
from intarsia.cli.terminal import displayable, json_option
from intarsia.infill.filling.options import FillOptions
from intarsia.infill.languages import Language, language_for_path


@click.command("fill")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@place_options
@language_option
@click.option("--watch", is_flag=True, help="Show the canvas while it settles.")
@click.option("--write", is_flag=True, help="Write the fills into the file, all or none.")
@click.option("--no-project", is_flag=True, help="Leave out code of other files, and imports.")
@click.option(
    "--imports/--no-imports",
    default=True,
    help="With --write: add the imports that the fills need.",
)
@fill_options
@json_option
def command(
    file: Path,
    language: Language | None,
    watch: bool,
    write: bool,
    no_project: bool,
    imports: bool,
    as_json: bool,
    **options: Any,
) -> ExitCode:
    """Fill holes in FILE (`-`: standard input). Lines and columns count from 1.

    Several holes are filled in file order, each with the fills before it in its context. The model
    also sees code of other files of the folder: `intarsia context` shows which. All positions are
    those of the original file. Without --write the file is not changed.
    """
    where = read_where(options)
    source = read_source(file)
    if write:
        require_writable(source)
    language = language or language_for_path(source.name)
    with open_project(None if no_project else source.path) as project:
        job = FillJob(
            source=source,
            language=language,
            where=where,
            options=FillOptions(**options, is_background=True),
            is_watched=watch,
            as_json=as_json,
            project=project,
        )
        if where.repair is not None:
            repaired = asyncio.run(run_repair(job, where.repair))
            filled = None if repaired is None else FilledFile(text=repaired)
            return _end(source, filled, write=write)
        fillings = asyncio.run(run_job(job))
        if any(filling.refusal for filling in fillings):
            return ExitCode.NOTHING
        filled = FilledFile(text=fillings[-1].result)
        if write and imports and project is not None:
            filled = with_imports(project, language, fillings)
        return _end(source, filled, write=write)


def _end(source: SourceFile, filled: FilledFile | None, *, write: bool) -> ExitCode:
    """Write the new text on request; without one there was nothing to fill or to repair."""
    if filled is None:
        return ExitCode.NOTHING
    if write:
        write_source(source, filled.text)
        added = f", with {'; '.join(filled.imports)}" if filled.imports else ""
        click.echo(f"written to {displayable(source.name)}{added}", err=True)
    return ExitCode.OK
