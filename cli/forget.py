"""``intarsia forget``: delete the contexts that are kept on disk for the engine's next start."""

import click

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.switches import debug_option
from intarsia.cli.units import size
from intarsia.engine.cache.folder import contexts_folder
from intarsia.engine.cache.kept_files import remove_all, usage_of


@click.command("forget")
@debug_option
def command() -> None:
    """Delete what the model has read of your files and is kept on disk. Models stay.

    Nothing is lost but time: the next suggestion in each file reads it again. The setting
    `keepContexts` decides whether anything is kept at all.
    """
    folder = contexts_folder()
    num_bytes = usage_of(folder).num_bytes
    try:
        remove_all(folder)
    except OSError as error:
        raise CliError(
            f"cannot delete {folder} ({error.strerror or error}): delete the folder yourself",
            ExitCode.NOT_WRITTEN,
        ) from error
    click.echo(f"Deleted {size(num_bytes)} of {folder}." if num_bytes else "Nothing was kept.")
