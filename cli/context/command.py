"""``intarsia context``: show exactly what the model would see at a place of a file, and why."""

from pathlib import Path

import click
import msgspec

from intarsia.cli.context.seen import choose_of, plan_of, seen_context
from intarsia.cli.context.show import show_context
from intarsia.cli.context.speed import reading_speed
from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.fill.positions import Position, offset_of
from intarsia.cli.fill.source_file import read_source
from intarsia.cli.fill.where import read_position
from intarsia.cli.language_option import language_option
from intarsia.cli.opened_folder import opened_folder
from intarsia.cli.switches import debug_option, json_option
from intarsia.cli.terminal import output
from intarsia.infill.languages import Language, language_for_path


@click.command("context")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--at",
    metavar="LINE:COL",
    required=True,
    callback=read_position,
    help="The cursor; lines and columns count from 1.",
)
@click.option(
    "--root",
    metavar="FOLDER",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The opened folder.  [default: the file's repository]",
)
@click.option("--no-project", is_flag=True, help="Leave out code of other files.")
@language_option
@json_option
@debug_option
def command(
    file: Path,
    at: Position,
    root: Path | None,
    no_project: bool,
    language: Language | None,
    as_json: bool,
) -> ExitCode:
    """Show all that the model sees at a place of FILE (`-`: standard input).

    Code of other files comes first, each part with its path and the reason why it was chosen, then
    the file around the hole. Tokens are estimated from characters. The folder's index is brought
    up to date first.
    """
    source = read_source(file)
    plan = plan_of(source, language or language_for_path(source.name), offset_of(source.text, at))
    project = None
    if source.path is not None and not no_project:
        project = choose_of(plan, source.path, _root_of(source.path, root))
    seen = seen_context(source, plan, project, reading_speed())
    if as_json:
        click.echo(msgspec.json.encode(seen).decode())
    else:
        show_context(output(), seen, has_project=project is not None)
    return ExitCode.OK


def _root_of(file: Path, root: Path | None) -> Path:
    if root is None:
        return opened_folder(file)
    if not file.resolve().is_relative_to(root.resolve()):
        raise CliError(f"{file} is not in {root}: give a --root that it is in")
    return root.resolve()
