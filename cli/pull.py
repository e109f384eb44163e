"""``intarsia pull``: fetch a model into the user's cache, and verify it."""

import click

from intarsia.cli.console import notices
from intarsia.cli.load_bar import LoadBar
from intarsia.cli.plain_words import size
from intarsia.cli.switches import debug_option
from intarsia.engine.default_model.catalog import CATALOG, DEFAULT_MODEL


@click.command("pull")
@click.option(
    "--model",
    default=DEFAULT_MODEL,
    show_default=True,
    help=f"A name of the catalog: {', '.join(row.name for row in CATALOG)}.",
)
@debug_option
def command(model: str) -> None:
    """Fetch a model, verify it, and keep it in your cache. Goes on where it was interrupted."""
    from intarsia.engine.default_model.download import pull

    with LoadBar(notices()) as bar:
        path = pull(model, bar.update)
    click.echo(f"{model} is there and verified: {path} ({size(path.stat().st_size)})")
