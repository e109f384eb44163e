"""``intarsia next``: find the lines that no longer fit after an edit, and correct them."""

import asyncio
from pathlib import Path
from typing import get_args

import click
import msgspec

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.fill.source_file import SourceFile, read_source
from intarsia.cli.language_option import language_option
from intarsia.cli.live_view import LoadBar
from intarsia.cli.next.report import report_result
from intarsia.cli.next.show import show_result
from intarsia.cli.options import absolute_model
from intarsia.cli.switches import debug_option, json_option
from intarsia.cli.terminal import notices, output
from intarsia.engine.ipc.client import EngineClient, FillFailed
from intarsia.engine.ipc.messages import FindNextEdits, NextEdits
from intarsia.infill.languages import Language, language_for_path
from intarsia.infill.next_edit.find import NextEditResult, find_offers
from intarsia.infill.next_edit.plan import EditedText, NextEditPlan, plan_next_edits
from intarsia.infill.next_edit.settled_edit import settled_edit
from intarsia.infill.next_edit.show_rule import Level
from intarsia.infill.suggestion import NoSuggestion


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
    show_default=True,
    help="Print edits that are at least this sure.",
)
@click.option(
    "--model",
    callback=absolute_model,
    help="A catalog name, a folder or a hub id.  [default: the loaded model]",
)
@language_option
@json_option
@debug_option
def command(
    file: Path,
    before: Path,
    level: Level,
    model: str | None,
    language: Language | None,
    as_json: bool,
) -> ExitCode:
    """Find what an edit of FILE (`-`: standard input) has left to change in it.

    The edit is the one difference between OLD and FILE, of a few lines. Lines and columns count
    from 1; the best edit comes first. No file is changed.
    """
    if file == before == Path("-"):
        raise CliError("both texts are standard input: give a file for FILE or for --before")
    source, old = read_source(file), read_source(before)
    language = language or language_for_path(source.name)
    plan = _plan(old, source, language)
    if isinstance(plan, NoSuggestion):
        result = NextEditResult(reason=plan.reason)
    else:
        result = asyncio.run(_find(plan, level, model))
    if as_json:
        click.echo(msgspec.json.encode(report_result(source.text, result)).decode())
    else:
        show_result(output(), source, result)
    return ExitCode.OK if result.offers else ExitCode.NOTHING


def _plan(old: SourceFile, source: SourceFile, language: Language) -> NextEditPlan | NoSuggestion:
    edit = settled_edit(old.text, source.text)
    if isinstance(edit, NoSuggestion):
        return edit
    edited = EditedText(before=old.text, after=source.text, edit=edit, newest=edit.new_range)
    return plan_next_edits(edited, language)


async def _find(plan: NextEditPlan, level: Level, model: str | None) -> NextEditResult:
    with LoadBar(notices()) as bar:
        async with EngineClient(
            name="cli", on_load_progress=lambda it: bar.update(it.stage, it.fraction)
        ) as client:

            async def ask(request: FindNextEdits) -> NextEdits | NoSuggestion:
                try:
                    return await client.find_next_edits(request)
                except FillFailed as error:
                    if error.code != "bad_request":
                        raise
                    return NoSuggestion(reason=str(error))

            results = [it async for it in find_offers(ask, plan, level, model)]
            return results[-1]  # it has all places
