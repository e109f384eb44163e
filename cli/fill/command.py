"""``intarsia fill``: fill holes of one file and show, print or write the fills."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.fill.positions import Position, offset_of, position_of, range_of
from intarsia.cli.fill.show import FillReport, draw_change, report_filling, show_filling, to_json
from intarsia.cli.fill.source_file import SourceFile, read_source, require_writable, write_source
from intarsia.cli.fill.where import (
    DEFAULT_NOISE,
    Where,
    cursor_at,
    place_options,
    read_where,
    selection_at,
    selections_at,
)
from intarsia.cli.live_view import WaitingView
from intarsia.cli.options import fill_options, language_option
from intarsia.cli.project import FileProject, open_project
from intarsia.cli.terminal import json_option, notices, output
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import ProjectContext
from intarsia.engine.ipc.printable import displayable
from intarsia.infill.filling.fill_places import fill_all, fill_in_order, rewrite_selection
from intarsia.infill.filling.instruct import instruct_selection
from intarsia.infill.filling.outcome import FilledPlace, Place
from intarsia.infill.filling.plan import FillContext, FillOptions, FindProject, PlannedHole
from intarsia.infill.holes.find_holes import find_holes, is_stub
from intarsia.infill.holes.hole import MarkedHole
from intarsia.infill.imports.add_imports import import_edits
from intarsia.infill.imports.binding import shown
from intarsia.infill.imports.unbound import unbound_names
from intarsia.infill.languages import Language, language_for_path
from intarsia.infill.repair.find_repair import Asking, Repair, description_of, find_repair
from intarsia.infill.repair.proposals import Found, find_proposals
from intarsia.infill.replacement import inserted_ranges, with_replaced
from intarsia.infill.suggestion import NoSuggestion
from intarsia.workspace.imports.finder import ImportFinder


@click.command("fill")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@place_options
@language_option
@click.option("--watch", is_flag=True, help="Show the canvas while it settles.")
@click.option("--write", is_flag=True, help="Write the fills into the file, all or none.")
@click.option("--no-project", is_flag=True, help="Leave out code from other files, and imports.")
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
    also sees code from other files of the folder: `intarsia context` shows which. All positions
    refer to the original file. Without --write the file is not changed.
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
            result, added = asyncio.run(run_repair(job, where.repair)), ""
        else:
            fillings = asyncio.run(run_job(job))
            if any(filling.refusal for filling in fillings):
                return ExitCode.NOTHING
            result, added = fillings[-1].result, ""
            if write and imports and project is not None:
                result, added = with_imports(project, language, fillings)
    if result is None:
        return ExitCode.NOTHING
    if write:
        write_source(source, result)
        click.echo(f"written to {displayable(source.name)}{added}", err=True)
    return ExitCode.OK


def with_imports(
    project: FileProject, language: Language, fillings: Sequence[FilledPlace]
) -> tuple[str, str]:
    """Return the filled text with the imports that it needs, and words that name these.

    A folder that is not read to its end gives none.
    """
    text = fillings[-1].result
    changes = [it.replacement for it in fillings if it.replacement is not None]
    names = [
        name
        for start, end in inserted_ranges(changes)
        for name in unbound_names(text, start, end, language)
    ]
    if not names:
        return text, ""
    finder = ImportFinder(project.index, project.file.as_posix(), text, language)
    if not project.is_complete:
        return text, ""
    found = [finder.find(name).binding for name in names]
    bindings = [it for it in dict.fromkeys(found) if it is not None]
    edits = import_edits(text, bindings, names[0].offset, language)
    if not edits:
        return text, ""
    imports = "; ".join(shown(it, language) for it in bindings)
    return with_replaced(text, edits), f", with {imports}"


@dataclass(frozen=True, kw_only=True, slots=True)
class FillJob:
    """Places to fill or to repair, and how; each result is printed at once, as JSON if wanted."""

    source: SourceFile
    language: Language
    where: Where
    options: FillOptions
    is_watched: bool
    as_json: bool
    project: FileProject | None


async def run_repair(job: FillJob, at: Position) -> str | None:
    """Show the repair, or why there is none. Return the repaired text, None without a repair."""
    text, offset = job.source.text, offset_of(job.source.text, at)
    found = find_proposals(text, offset, offset, job.language)
    repair = found if isinstance(found, NoSuggestion) else await _find(job, found)
    if job.as_json:
        click.echo(to_json(_report(job, offset, repair)))
    else:
        _show(job, offset, repair)
    return None if isinstance(repair, NoSuggestion) else with_replaced(text, [repair.replacement])


async def _find(job: FillJob, found: Found) -> Repair | NoSuggestion:
    with WaitingView(notices(), watch=False) as view:
        async with EngineClient(name="cli", on_load_progress=view.on_load_progress) as client:
            asking = Asking(
                fill=client.fill,
                scores=client.score_texts,
                options=job.options,
                find_project=_finder(client, job.project),
            )
            return await find_repair(asking, found)


def _finder(client: EngineClient, project: FileProject | None) -> FindProject | None:
    if project is None:
        return None

    async def find(planned: PlannedHole) -> ProjectContext | None:
        return project.message(planned, (await client.status()).prefill_tokens_per_s)

    return find


def _report(job: FillJob, offset: int, repair: Repair | NoSuggestion) -> FillReport:
    name, text = job.source.name, job.source.text
    if isinstance(repair, NoSuggestion):
        return FillReport(file=name, reason=repair.reason, range=range_of(text, offset, offset))
    change = repair.replacement
    where = range_of(text, change.start, change.end)
    return FillReport(file=name, text=change.new, range=where, kind="repair")


def _show(job: FillJob, offset: int, repair: Repair | NoSuggestion) -> None:
    text, console = job.source.text, output()
    at = offset if isinstance(repair, NoSuggestion) else repair.replacement.start
    title = f"{displayable(job.source.name)}:{position_of(text, at)}"
    console.print(Text(title, style="bold"), soft_wrap=True)
    if isinstance(repair, NoSuggestion):
        console.print(Text(f"no repair: {repair.reason}", style="yellow"), soft_wrap=True)
        return
    console.print(draw_change(text, repair.replacement, job.language), soft_wrap=True)
    words = f"{description_of(text, repair)} · likelier by {repair.gain:.1f} nats"
    console.print(Text(displayable(words), style="dim"), soft_wrap=True)


async def run_job(job: FillJob) -> list[FilledPlace]:
    """Return the result for each place. Raise CliError if there is no place to fill."""
    holes = _holes(job) if job.where.all_holes else ()
    fillings = []
    with WaitingView(notices(), watch=job.is_watched) as view:
        async with EngineClient(name="cli", on_load_progress=view.on_load_progress) as client:
            context = FillContext(
                ask=client.fill,
                language=job.language,
                options=job.options,
                on_step=view.on_step,
                find_project=_finder(client, job.project),
            )
            async for filling in _fillings(job, holes, context, view):
                view.hide()
                name, text = job.source.name, job.source.text
                if job.as_json:
                    click.echo(to_json(report_filling(name, text, filling)))
                else:
                    show_filling(output(), name, text, filling, job.language)
                view.wait()
                fillings.append(filling)
    return fillings


async def _fillings(
    job: FillJob, holes: Sequence[MarkedHole], context: FillContext, view: WaitingView
) -> AsyncIterator[FilledPlace]:
    text, where = job.source.text, job.where
    if where.all_holes:
        num_sweeps, on_progress = 1 if where.once else 2, view.on_fill_progress
        for filling in await fill_all(
            context, text, holes, num_sweeps=num_sweeps, on_progress=on_progress
        ):
            yield filling
    elif where.rewrite is not None and where.instruction is not None:
        selection = selection_at(text, where.rewrite)
        yield await instruct_selection(context, text, selection, where.instruction)
    elif where.rewrite is not None:
        noise = DEFAULT_NOISE if where.noise is None else where.noise
        yield await rewrite_selection(context, text, selection_at(text, where.rewrite), noise)
    else:
        async for filling in fill_in_order(context, text, _places(job)):
            yield filling


def _places(job: FillJob) -> Sequence[Place]:
    text, where = job.source.text, job.where
    if where.at is not None:
        return [cursor_at(text, where.at)]
    return selections_at(text, where.ranges, job.language)


def _holes(job: FillJob) -> Sequence[MarkedHole]:
    is_declared = is_stub(job.source.name)
    holes = find_holes(job.source.text, job.language, marks=job.where.marks, is_stub=is_declared)
    if not holes:
        raise CliError(
            f"{job.source.name} has nothing to fill: see docs/edits.md for what makes a hole, or "
            "give your own mark with --mark",
            ExitCode.NOTHING,
        )
    return holes
