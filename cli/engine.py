"""``intarsia engine``: run the engine in the foreground, with its log."""

from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import click

from intarsia.cli.command_table import load
from intarsia.cli.errors import CliError, ExitCode
from intarsia.engine.config import Device, Dtype, EngineConfig, Quantize

_DEFAULTS = {field.name: field.default for field in fields(EngineConfig)}


@click.command("engine")
@click.option(
    "--model",
    default=_DEFAULTS["model"],
    help="A catalog name, a folder or a hub id.",
)
@click.option(
    "--drafter",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A safetensors file to use instead of the model's own drafter.",
)
@click.option(
    "--device",
    type=click.Choice(get_args(Device)),
    default=_DEFAULTS["device"],
    help="Where the model runs.",
)
@click.option(
    "--dtype",
    type=click.Choice(get_args(Dtype)),
    default=_DEFAULTS["dtype"],
    help="Number format of the weights.",
)
@click.option(
    "--quantize",
    type=click.Choice(get_args(Quantize)),
    default=_DEFAULTS["quantize"],
    show_default=False,
    help="Quantize DiffusionGemma's large matrices.",
)
@click.option(
    "--idle-timeout",
    "idle_timeout_s",
    type=float,
    metavar="SECONDS",
    default=_DEFAULTS["idle_timeout_s"],
    help="Stop after this long without a request.",
)
@click.option(
    "--cache-tokens",
    type=int,
    default=_DEFAULTS["cache_tokens"],
    help="Size of the KV cache, in context tokens.",
)
@click.option(
    "--max-context-tokens",
    type=int,
    default=_DEFAULTS["max_context_tokens"],
    help="The most context tokens in a request.",
)
def command(**flags: Any) -> ExitCode:
    """Run the engine in this terminal until Ctrl-C or `intarsia stop`, and print its log."""
    code = load("intarsia.engine.service.process").run_engine(_config(flags), foreground=True)
    return ExitCode.OK if code == 0 else ExitCode.ENGINE  # its log says why


def _config(flags: dict[str, Any]) -> EngineConfig:
    try:
        return EngineConfig(**flags)
    except ValueError as error:
        raise CliError(f"{error}: see `intarsia engine --help`") from error
