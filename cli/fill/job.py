"""Run one ``intarsia fill``: fill places in order, fill all holes, or rewrite a range."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.fill.positions import Range
from intarsia.cli.fill.source_file import SourceFile
from intarsia.cli.fill.where import DEFAULT_NOISE, Where, cursor_at, selection_at, selections_at
from intarsia.cli.live_view import WaitingView
from intarsia.cli.terminal import notices
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.fill_all import fill_all
from intarsia.infill.filling.fill_in_order import fill_in_order, rewrite_selection
from intarsia.infill.filling.options import FillContext, FillOptions
from intarsia.infill.filling.outcome import FilledPlace
from intarsia.infill.filling.places import Place
from intarsia.infill.holes.find_holes import find_holes
from intarsia.infill.holes.hole_rules import is_stub
from intarsia.infill.holes.marked_hole import MarkedHole
from intarsia.infill.languages import Language


@dataclass(frozen=True, kw_only=True, slots=True)
class FillJob:
    """What to fill and how. ``report`` is called for each place as soon as it is filled."""

    source: SourceFile
    language: Language
    where: Where
    options: FillOptions
    is_watched: bool
    report: Callable[[FilledPlace], None]


async def run_job(job: FillJob) -> list[FilledPlace]:
    """Return the result for each place. Raise CliError if there is no place to fill."""
    holes = _holes(job) if job.where.all_holes else ()
    with WaitingView(notices(), watch=job.is_watched) as view:
        async with EngineClient(name="cli", on_load_progress=view.on_load_progress) as client:
            if job.where.all_holes:
                return await _fill_all(job, holes, client, view)
            if job.where.rewrite is not None:
                return [await _rewrite(job, job.where.rewrite, client, view)]
            return await _fill_in_order(job, _places(job), client, view)


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


async def _fill_in_order(
    job: FillJob, places: Sequence[Place], client: EngineClient, view: WaitingView
) -> list[FilledPlace]:
    fillings = []
    async for filling in fill_in_order(_context(job, client, view), job.source.text, places):
        view.hide()
        job.report(filling)
        fillings.append(filling)
    return fillings


async def _fill_all(
    job: FillJob, holes: Sequence[MarkedHole], client: EngineClient, view: WaitingView
) -> list[FilledPlace]:
    num_sweeps = 1 if job.where.once else 2
    filled = await fill_all(
        _context(job, client, view),
        job.source.text,
        holes,
        num_sweeps=num_sweeps,
        on_progress=view.on_fill_progress,
    )
    fillings = list(filled)
    view.hide()
    for filling in fillings:
        job.report(filling)
    return fillings


async def _rewrite(
    job: FillJob, one: Range, client: EngineClient, view: WaitingView
) -> FilledPlace:
    filling = await rewrite_selection(
        _context(job, client, view),
        job.source.text,
        selection_at(job.source.text, one),
        DEFAULT_NOISE if job.where.noise is None else job.where.noise,
    )
    view.hide()
    job.report(filling)
    return filling


def _context(job: FillJob, client: EngineClient, view: WaitingView) -> FillContext:
    return FillContext(
        ask=client.fill, language=job.language, options=job.options, on_step=view.on_step
    )
