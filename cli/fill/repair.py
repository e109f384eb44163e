"""Run one ``intarsia fill --repair``: find the repair of an error, show it, and return the text."""

from dataclasses import dataclass

import click
from rich.text import Text

from intarsia.cli.fill.positions import Position, offset_of, position_of, range_of
from intarsia.cli.fill.report import FillReport, to_json
from intarsia.cli.fill.show import Change, draw_change, lexer_of
from intarsia.cli.fill.source_file import SourceFile
from intarsia.cli.live_view import WaitingView
from intarsia.cli.terminal import displayable, notices, output
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.options import FillOptions
from intarsia.infill.languages import Language
from intarsia.infill.repair.description import description_of
from intarsia.infill.repair.find_repair import Asking, Repair, find_repair
from intarsia.infill.repair.proposals_at import Found, find_proposals
from intarsia.infill.replacement import with_replaced
from intarsia.infill.suggestion import NoSuggestion


@dataclass(frozen=True, kw_only=True, slots=True)
class RepairJob:
    """Which error to repair, and how to show the result."""

    source: SourceFile
    language: Language
    at: Position
    options: FillOptions
    as_json: bool


async def run_repair(job: RepairJob) -> str | None:
    """Show the repair, or why there is none. Return the repaired text, None without a repair."""
    text, offset = job.source.text, offset_of(job.source.text, job.at)
    found = find_proposals(text, offset, offset, job.language)
    repair = found if isinstance(found, NoSuggestion) else await _find(job, found)
    if job.as_json:
        click.echo(to_json(_report(job, offset, repair)))
    else:
        _show(job, offset, repair)
    return None if isinstance(repair, NoSuggestion) else with_replaced(text, [repair.replacement])


async def _find(job: RepairJob, found: Found) -> Repair | NoSuggestion:
    with WaitingView(notices(), watch=False) as view:
        async with EngineClient(name="cli", on_load_progress=view.on_load_progress) as client:
            asking = Asking(fill=client.fill, scores=client.score_texts, options=job.options)
            return await find_repair(asking, found)


def _report(job: RepairJob, offset: int, repair: Repair | NoSuggestion) -> FillReport:
    name, text = job.source.name, job.source.text
    if isinstance(repair, NoSuggestion):
        return FillReport(file=name, reason=repair.reason, range=range_of(text, offset, offset))
    change = repair.replacement
    where = range_of(text, change.start, change.end)
    return FillReport(file=name, text=change.new, range=where, kind="repair")


def _show(job: RepairJob, offset: int, repair: Repair | NoSuggestion) -> None:
    text, console = job.source.text, output()
    at = offset if isinstance(repair, NoSuggestion) else repair.replacement.start
    title = f"{displayable(job.source.name)}:{position_of(text, at)}"
    console.print(Text(title, style="bold"), soft_wrap=True)
    if isinstance(repair, NoSuggestion):
        console.print(Text(f"no repair: {repair.reason}", style="yellow"), soft_wrap=True)
        return
    change = repair.replacement
    lexer = lexer_of(job.language)
    drawn = Change(text=text, start=change.start, end=change.end, fill=change.new, lexer=lexer)
    console.print(draw_change(drawn), soft_wrap=True)
    words = f"{description_of(text, repair)} · likelier by {repair.gain:.1f} nats"
    console.print(Text(displayable(words), style="dim"), soft_wrap=True)
