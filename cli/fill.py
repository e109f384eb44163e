"""``intarsia fill``: fill holes of one file; show them, print them as JSON, or write them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from intarsia.cli.console import notices, output
from intarsia.cli.exit_codes import ExitCode
from intarsia.cli.fill_hole import FillOptions
from intarsia.cli.fill_holes import Filling, Place, fill_holes, place_at, places_of_ranges
from intarsia.cli.fill_options import fill_options
from intarsia.cli.fill_report import report_filling, to_json
from intarsia.cli.show_filling import show_filling
from intarsia.cli.source_file import SourceFile, read_source, require_writable, write_source
from intarsia.cli.switches import debug_option, json_option
from intarsia.cli.text_positions import Position, Range, parse_position, parse_range
from intarsia.cli.waiting_view import WaitingView
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.languages import (
    LANGUAGES,
    PLAIN_TEXT,
    Language,
    language_for_id,
    language_for_path,
)


def _read_position(ctx: click.Context, _: click.Parameter, word: str | None) -> Position | None:
    try:
        return None if word is None else parse_position(word)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _read_ranges(ctx: click.Context, _: click.Parameter, words: Sequence[str]) -> list[Range]:
    try:
        return [parse_range(word) for word in words]
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _read_language(ctx: click.Context, _: click.Parameter, word: str | None) -> Language | None:
    if word is None:
        return None
    language = language_for_id(word)
    if language is PLAIN_TEXT and word.lower() != PLAIN_TEXT.id:
        known = ", ".join(row.id for row in LANGUAGES)
        raise click.BadParameter(f"{word!r} is not known; known are {known} and {PLAIN_TEXT.id}")
    return language


@click.command("fill")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--at",
    metavar="LINE:COL",
    callback=_read_position,
    help="Fill at this cursor: the rest of the line, or the block that its header opens.",
)
@click.option(
    "--hole",
    "ranges",
    metavar="L:C-L:C",
    multiple=True,
    callback=_read_ranges,
    help="Replace this range; the same position twice is a hole of any length. Repeatable.",
)
@click.option(
    "--language",
    metavar="NAME",
    callback=_read_language,
    help="As editors name it; else the file's name tells.",
)
@click.option("--watch", is_flag=True, help="Show the canvas while it settles.")
@click.option("--write", is_flag=True, help="Write the fills into the file, all or none.")
@fill_options
@json_option
@debug_option
def command(
    file: Path,
    at: Position | None,
    ranges: list[Range],
    language: Language | None,
    watch: bool,
    write: bool,
    as_json: bool,
    **options: Any,
) -> ExitCode:
    """Fill holes in FILE (`-`: standard input). Lines and columns count from 1.

    Several holes are filled in file order, each seeing the fills before it; all positions are of
    the file as it is. The file is not touched without --write.
    """
    if (at is None) == (not ranges):
        raise click.UsageError("give either --at or --hole")
    source = read_source(file)
    if write:
        require_writable(source)
    language = language or language_for_path(source.name)
    if at is not None:
        places = [place_at(source.text, at)]
    else:
        places = places_of_ranges(source.text, ranges, language)
    job = Job(source=source, language=language, places=places, watch=watch, as_json=as_json)
    fillings = asyncio.run(_run(job, FillOptions(**options)))
    if any(filling.refusal for filling in fillings):
        return ExitCode.NOTHING
    if write:
        write_source(source, fillings[-1].text)
        click.echo(f"written to {source.name}", err=True)
    return ExitCode.OK


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """What is to be filled, and how it is to be shown."""

    source: SourceFile
    language: Language
    places: list[Place]
    watch: bool
    as_json: bool


async def _run(job: Job, options: FillOptions) -> list[Filling]:
    """Fill and show one hole after the other."""
    text, places, language = job.source.text, job.places, job.language
    fillings = []
    with WaitingView(notices(), watch=job.watch) as view:
        async with EngineClient(name="cli", on_load_progress=view.on_load_progress) as client:
            async for filling in fill_holes(client, text, places, language, options, view.on_step):
                view.hide()
                _tell(job, filling)
                fillings.append(filling)
    return fillings


def _tell(job: Job, filling: Filling) -> None:
    if job.as_json:
        click.echo(to_json(report_filling(job.source.name, filling)))
    else:
        show_filling(output(), job.source.name, filling, job.language)
