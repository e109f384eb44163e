"""``intarsia report``: write a report of a fault, show it, and send it nowhere."""

from pathlib import Path

import click

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.switches import debug_option


@click.command("report")
@click.option(
    "--output",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("intarsia-report.md"),
    show_default=True,
    help="The file to write. It must not exist yet.",
)
@debug_option
def command(path: Path) -> None:
    """Write what a report of a fault needs into a file, and show it. Nothing is sent.

    It has versions, the machine, settings, the doctor's findings, counts, and the end of the
    engine's log. It has no code, and no name or path of yours: what our own messages do not say is
    left out. Read it before you attach it anywhere.
    """
    from intarsia.cli.report.content import report

    content = report()
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(content)
    except FileExistsError as error:
        raise CliError(
            f"{path} exists: remove it, or name another file with --output", ExitCode.NOT_WRITTEN
        ) from error
    except OSError as error:
        raise CliError(
            f"cannot write {path} ({error.strerror or error}): name another file with --output",
            ExitCode.NOT_WRITTEN,
        ) from error
    click.echo(content)
    click.echo(f"Written to {path}. Nothing was sent: attach it where you report the fault.")
