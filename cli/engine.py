"""``intarsia engine``: the engine in the foreground, to watch it or to keep it."""

from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import click

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.options import debug_option
from intarsia.engine.config import Device, Dtype, EngineConfig, Quantize

_DEFAULTS = {field.name: field.default for field in fields(EngineConfig)}


@click.command("engine")
@click.option(
    "--model",
    default=_DEFAULTS["model"],
    show_default=True,
    help="A name of the catalog, a folder, or a hub id.",
)
@click.option(
    "--adapter",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A safetensors file instead of the adapter that comes with the model.",
)
@click.option("--device", type=click.Choice(get_args(Device)), default=_DEFAULTS["device"])
@click.option("--dtype", type=click.Choice(get_args(Dtype)), default=_DEFAULTS["dtype"])
@click.option(
    "--quantize",
    type=click.Choice(get_args(Quantize)),
    default=_DEFAULTS["quantize"],
    help="Fewer bits for DiffusionGemma's large matrices.",
)
@click.option(
    "--idle-timeout",
    "idle_timeout_s",
    type=float,
    metavar="SECONDS",
    default=_DEFAULTS["idle_timeout_s"],
    show_default=True,
    help="End after so long without a request, and free the memory.",
)
@click.option(
    "--cache-tokens",
    type=int,
    default=_DEFAULTS["cache_tokens"],
    show_default=True,
    help="Context tokens whose keys and values are held.",
)
@click.option(
    "--max-context-tokens",
    type=int,
    default=_DEFAULTS["max_context_tokens"],
    show_default=True,
    help="Context tokens that a request may have.",
)
@debug_option
def command(**flags: Any) -> ExitCode:
    """Run the engine in this terminal, with its log, until Ctrl-C or `intarsia stop`."""
    from intarsia.engine.service.process import run_engine

    code = run_engine(_config(flags), foreground=True)
    return ExitCode.OK if code == 0 else ExitCode.ENGINE  # its log has said why


def _config(flags: dict[str, Any]) -> EngineConfig:
    try:
        return EngineConfig(**flags)
    except ValueError as error:
        raise CliError(f"{error}: see `intarsia engine --help`") from error
