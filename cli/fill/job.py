"""What ``intarsia fill`` does to one file: fill places in order, fill all holes, or rewrite."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from intarsia.cli.console import notices
from intarsia.cli.exit_codes import ExitCode
from intarsia.cli.faults import CliError
from intarsia.cli.fill_places import cursor_at, stretch_of, stretches_of
from intarsia.cli.place_options import USUAL_NOISE, Where
from intarsia.cli.source_file import SourceFile
from intarsia.cli.text_positions import Range
from intarsia.cli.waiting_view import WaitingView
from intarsia.engine.ipc.client import EngineClient
from intarsia.filling.fill_all import FillAll, fill_all
from intarsia.filling.fill_in_order import fill_in_order
from intarsia.filling.filling import Filling
from intarsia.filling.options import FillOptions
from intarsia.filling.place import Place
from intarsia.filling.selection import rewrite_selection
from intarsia.infill.find_holes import find_holes
from intarsia.infill.hole_rules import is_stub
from intarsia.infill.languages import Language
from intarsia.infill.marked_hole import MarkedHole


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """What is to be filled, how, and who is told of each place once it stands."""

    source: SourceFile
    language: Language
    where: Where
    options: FillOptions
    is_watched: bool
    tell: Callable[[Filling], None]


async def run_job(job: Job) -> list[Filling]:
    """Return what became of each place. Raises CliError where there is none."""
    holes = _holes(job) if job.where.all_holes else ()
    with WaitingView(notices(), watch=job.is_watched) as view:
        async with EngineClient(name="cli", on_load_progress=view.on_load_progress) as client:
            if job.where.all_holes:
                return await _fill_all(job, holes, client, view)
            if job.where.rewrite is not None:
                return [await _rewrite(job, job.where.rewrite, client, view)]
            return await _fill_in_order(job, _places(job), client, view)


def _places(job: Job) -> Sequence[Place]:
    text, where = job.source.text, job.where
    if where.at is not None:
        return [cursor_at(text, where.at)]
    return stretches_of(text, where.ranges, job.language)


def _holes(job: Job) -> Sequence[MarkedHole]:
    is_declared = is_stub(job.source.name)
    holes = find_holes(job.source.text, job.language, marks=job.where.marks, is_stub=is_declared)
    if not holes:
        raise CliError(
            f"nothing in {job.source.name} asks to be filled: see docs/edits.md for what does, or "
            "name a mark of your own with --mark",
            ExitCode.NOTHING,
        )
    return holes


async def _fill_in_order(
    job: Job, places: Sequence[Place], client: EngineClient, view: WaitingView
) -> list[Filling]:
    fillings = []
    async for filling in fill_in_order(
        client.fill, job.source.text, places, job.language, job.options, view.on_step
    ):
        view.hide()
        job.tell(filling)
        fillings.append(filling)
    return fillings


async def _fill_all(
    job: Job, holes: Sequence[MarkedHole], client: EngineClient, view: WaitingView
) -> list[Filling]:
    how = FillAll(
        ask=client.fill,
        language=job.language,
        options=job.options,
        num_sweeps=1 if job.where.once else 2,
        on_progress=view.on_fill_progress,
        on_step=view.on_step,
    )
    fillings = list(await fill_all(how, job.source.text, holes))
    view.hide()
    for filling in fillings:
        job.tell(filling)
    return fillings


async def _rewrite(job: Job, one: Range, client: EngineClient, view: WaitingView) -> Filling:
    filling = await rewrite_selection(
        client.fill,
        job.source.text,
        stretch_of(job.source.text, one),
        job.language,
        job.options,
        USUAL_NOISE if job.where.noise is None else job.where.noise,
        view.on_step,
    )
    view.hide()
    job.tell(filling)
    return filling
