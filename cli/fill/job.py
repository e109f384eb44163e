"""Run one ``intarsia fill``: fill places in order, fill all holes, or rewrite a range."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import click
from rich.text import Text

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.fill.positions import Position, offset_of, position_of, range_of
from intarsia.cli.fill.show import FillReport, draw_change, report_filling, show_filling, to_json
from intarsia.cli.fill.source_file import SourceFile
from intarsia.cli.fill.where import DEFAULT_NOISE, Where, cursor_at, selection_at, selections_at
from intarsia.cli.live_view import WaitingView
from intarsia.cli.project import FileProject
from intarsia.cli.terminal import displayable, notices, output
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import ProjectContext
from intarsia.infill.filling.fill_all import fill_all
from intarsia.infill.filling.fill_in_order import fill_in_order, rewrite_selection
from intarsia.infill.filling.options import FillContext, FillOptions, FindProject, PlannedHole
from intarsia.infill.filling.outcome import FilledPlace, Place
from intarsia.infill.holes.find_holes import find_holes
from intarsia.infill.holes.hole_rules import is_stub
from intarsia.infill.holes.marked_hole import MarkedHole
from intarsia.infill.imports.add_imports import import_edits
from intarsia.infill.imports.binding import UnboundName, shown
from intarsia.infill.imports.unbound import unbound_names
from intarsia.infill.languages import Language
from intarsia.infill.repair.find_repair import Asking, Repair, description_of, find_repair
from intarsia.infill.repair.proposals_at import Found, find_proposals
from intarsia.infill.replacement import inserted_ranges, with_replaced
from intarsia.infill.suggestion import NoSuggestion
from intarsia.workspace.imports.finder import ImportFinder


@dataclass(frozen=True, kw_only=True, slots=True)
class FilledFile:
    """The text with all fills and their imports; ``imports`` are those, as statements."""

    text: str
    imports: tuple[str, ...] = ()


def with_imports(
    project: FileProject, language: Language, fillings: Sequence[FilledPlace]
) -> FilledFile:
    """Return the filled text with the imports that it needs. The file itself is not changed.

    A folder that is not read to its end gives none.
    """
    text = fillings[-1].result
    changes = [it.replacement for it in fillings if it.replacement is not None]
    names = [
        name
        for start, end in inserted_ranges(changes)
        for name in unbound_names(text, start, end, language)
    ]
    return _with_names(project, language, text, names) if names else FilledFile(text=text)


def _with_names(
    project: FileProject, language: Language, text: str, names: Sequence[UnboundName]
) -> FilledFile:
    finder = ImportFinder(project.index, project.file.as_posix(), text, language)
    if not project.is_complete:
        return FilledFile(text=text)
    found = [finder.find(name).binding for name in names]
    bindings = [it for it in dict.fromkeys(found) if it is not None]
    edits = import_edits(text, bindings, names[0].offset, language)
    if not edits:
        return FilledFile(text=text)
    imports = tuple(shown(it, language.id) for it in bindings)
    return FilledFile(text=with_replaced(text, edits), imports=imports)


@dataclass(frozen=True, kw_only=True, slots=True)
class FillJob:
    """What to fill or to repair, and how; each result is printed at once, as JSON if wanted."""

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
                _show_filling(job, filling)
                fillings.append(filling)
    return fillings


def _show_filling(job: FillJob, filling: FilledPlace) -> None:
    name, text = job.source.name, job.source.text
    if job.as_json:
        click.echo(to_json(report_filling(name, text, filling, job.options.decoding)))
    else:
        show_filling(output(), name, text, filling, job.language)


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
            f"{job.source.name} has nothing to fill: see docs/edits.md for what is a hole, or "
            "give your own mark with --mark",
            ExitCode.NOTHING,
        )
    return holes
