"""``intarsia pull``: download a model into the user's cache and verify it."""

import click

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.live_view import LoadBar
from intarsia.cli.terminal import notices, size
from intarsia.engine.model_store.catalog import CATALOG, DEFAULT_MODEL
from intarsia.engine.model_store.download import pull


@click.command("pull")
@click.option(
    "--model",
    default=DEFAULT_MODEL,
    help=f"A catalog name: {', '.join(row.name for row in CATALOG)}.",
)
def command(model: str) -> None:
    """Download a model into your cache and verify it. An interrupted download is resumed."""
    try:
        with LoadBar(notices()) as bar:
            path = pull(model, bar.update)
    except KeyboardInterrupt as error:
        words = "interrupted; what was downloaded is kept, and the same command goes on from there"
        raise CliError(words, ExitCode.INTERRUPTED) from error
    click.echo(f"{model} is downloaded and verified: {path} ({size(path.stat().st_size)})")
