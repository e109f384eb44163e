"""``intarsia next``: find the lines that no longer fit after an edit, and correct them.

The JSON has stable keys for scripts; a key without a value is null.
"""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import click
import msgspec
from msgspec.structs import replace
from rich.console import Console
from rich.style import Style
from rich.text import Text

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.fill.positions import Range, position_of, range_of
from intarsia.cli.fill.source_file import SourceFile, read_source
from intarsia.cli.live_view import LoadBar
from intarsia.cli.options import language_option, model_option
from intarsia.cli.terminal import json_option, notices, output
from intarsia.engine.ipc.client import EngineClient, FillFailed
from intarsia.engine.ipc.messages import FindNextEdits, NextEdits
from intarsia.engine.ipc.printable import displayable
from intarsia.infill.languages import Language, language_for_path
from intarsia.infill.next_edit.offer import Level, NextEditOffer, NextEditResult, find_offers
from intarsia.infill.next_edit.plan import EditedText, NextEditPlan, plan_next_edits
from intarsia.infill.next_edit.renaming import renamed_uses
from intarsia.infill.next_edit.settled_edit import plain_lines, settled_edit
from intarsia.infill.suggestion import NoSuggestion


class NextEditReport(msgspec.Struct, frozen=True, kw_only=True):
    """``text`` replaces ``range`` of the file; ``gain`` is in nats, 0 for a renamed use."""

    range: Range
    text: str
    gain: float
    sure: bool


class NextReport(msgspec.Struct, frozen=True, kw_only=True):
    """The edits, best first. ``reason`` says why there are none."""

    edits: tuple[NextEditReport, ...]
    reason: str | None


def report_result(text: str, result: NextEditResult) -> NextReport:
    return NextReport(
        edits=tuple(
            NextEditReport(
                range=range_of(text, offer.start, offer.end),
                text=offer.text,
                gain=offer.gain,
                sure=offer.is_sure,
            )
            for offer in result.offers
        ),
        reason=None if result.offers else result.reason,
    )


_NUM_CONTEXT_LINES = 3
_MAX_COLUMNS = 100
_STYLES = {"-": Style(color="red"), "+": Style(color="green"), " ": Style(dim=True)}


def show_result(console: Console, source: SourceFile, result: NextEditResult) -> None:
    """Print each offer as a small difference, or why there is none."""
    if not result.offers:
        console.print(Text(f"no next edit: {result.reason}", style="yellow"), soft_wrap=True)
    for offer in result.offers:
        where = position_of(source.text, offer.start)
        console.print(Text(f"{displayable(source.name)}:{where}", style="bold"), soft_wrap=True)
        for line in _difference(plain_lines(source.text), offer):
            console.print(line, soft_wrap=True)
        numbers = f"{offer.level} · {offer.gain:.1f} nats likelier · {result.ms:.0f} ms"
        numbers = "sure · a use of what was renamed" if offer.is_renamed else numbers
        console.print(Text(numbers, style="dim"), soft_wrap=True)


def _difference(present: Sequence[str], offer: NextEditOffer) -> Iterator[Text]:
    start, end = offer.lines.start, offer.lines.end
    first = max(0, start - _NUM_CONTEXT_LINES)
    yield from _numbered(" ", first, present[first:start])
    yield from _numbered("-", start, present[start:end])
    yield from _numbered("+", start, offer.new_lines)
    after = start + len(offer.new_lines)
    yield from _numbered(" ", after, present[end : end + _NUM_CONTEXT_LINES])


def _numbered(sign: str, first: int, lines: Sequence[str]) -> Iterator[Text]:
    """Yield the lines with their sign and number, which is shown from 1."""
    for number, line in enumerate(lines, first + 1):
        shown = displayable(line.removesuffix("\n"))
        cut = shown if len(shown) <= _MAX_COLUMNS else shown[:_MAX_COLUMNS] + "…"
        yield Text(f"{sign} {number:>5} │ {cut}", style=_STYLES[sign])


@click.command("next")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--before",
    metavar="OLD",
    type=click.Path(path_type=Path, allow_dash=True),
    required=True,
    help="A file with the text before the edit (`-`: standard input).",
)
@click.option(
    "--level",
    type=click.Choice(get_args(Level)),
    default="bold",
    help="Print edits that are at least this sure.",
)
@model_option
@language_option
@json_option
def command(
    file: Path,
    before: Path,
    level: Level,
    model: str | None,
    language: Language | None,
    as_json: bool,
) -> ExitCode:
    """Find lines of FILE (`-`: standard input) that an edit left out of date.

    The edit is the one difference between OLD and FILE, of a few lines. Lines and columns count
    from 1; the best edit comes first. No file is changed.
    """
    if file == before == Path("-"):
        raise CliError("both texts are standard input: give a file for FILE or for --before")
    source, old = read_source(file), read_source(before)
    language = language or language_for_path(source.name)
    edit = settled_edit(old.text, source.text)
    if isinstance(edit, NoSuggestion):
        result = NextEditResult(reason=edit.reason)
    else:
        edited = EditedText(before=old.text, after=source.text, edit=edit, newest=edit.new_range)
        result = NextEditResult(offers=renamed_uses(edited, language))
        if not result.offers:
            result = asyncio.run(_find(plan_next_edits(edited, language), level, model))
    if as_json:
        click.echo(msgspec.json.encode(report_result(source.text, result)).decode())
    else:
        show_result(output(), source, result)
    return ExitCode.OK if result.offers else ExitCode.NOTHING


async def _find(plan: NextEditPlan, level: Level, model: str | None) -> NextEditResult:
    with LoadBar(notices(), "looking for next edits") as bar:
        async with EngineClient(
            name="cli", on_load_progress=lambda it: bar.update(it.stage, it.fraction)
        ) as client:

            async def ask(request: FindNextEdits) -> NextEdits | NoSuggestion:
                try:
                    return await client.find_next_edits(replace(request, is_awaited=True))
                except FillFailed as error:
                    if error.code != "bad_request":
                        raise
                    return NoSuggestion(reason=str(error))

            results = [it async for it in find_offers(ask, plan, level, model)]
            return results[-1]  # it has all places
