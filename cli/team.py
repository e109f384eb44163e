"""``intarsia team``: serve one loaded model to several users over HTTP, and give them keys."""

from pathlib import Path
from typing import Any, get_args

import click

from intarsia.cli.command_table import load
from intarsia.cli.errors import CliError, ExitCode
from intarsia.engine.config import Device, Dtype, EngineConfig
from intarsia.engine.team.keys import KeyFileError, add_user

_DEFAULTS = EngineConfig()
_FILE = click.Path(path_type=Path, dir_okay=False)
_COUNT = click.IntRange(min=1)


@click.group("team")
def command() -> None:
    """Serve a team: one engine, and a key and contexts of its own for each user."""


@command.command("serve")
@click.option("--keys", type=_FILE, required=True, help="The file that `intarsia team key` writes.")
@click.option("--host", default="127.0.0.1", help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8420)
@click.option("--tls-cert", type=_FILE, help="A certificate (PEM) with its chain.")
@click.option("--tls-key", type=_FILE, help="The private key of the certificate (PEM).")
@click.option(
    "--behind-proxy",
    "is_behind_proxy",
    is_flag=True,
    help="Speak plain HTTP beyond this machine: a proxy terminates TLS.",
)
@click.option("--model", default=_DEFAULTS.model, help="The model to serve.")
@click.option(
    "--device", type=click.Choice(get_args(Device)), default=_DEFAULTS.device, show_default=False
)
@click.option(
    "--dtype", type=click.Choice(get_args(Dtype)), default=_DEFAULTS.dtype, show_default=False
)
@click.option(
    "--cache-tokens",
    type=_COUNT,
    default=200_000,
    help="Context tokens in memory, for all users; 12 KiB each with the default model.",
)
@click.option(
    "--user-cache-tokens",
    type=_COUNT,
    default=8_192,
    help="Context tokens in memory, per user.",
)
@click.option("--max-in-flight", type=_COUNT, default=4, help="Fills at once, per user.")
@click.option("--per-minute", type=_COUNT, default=300, help="Fills a minute, per user.")
@click.option(
    "--max-waiting",
    type=_COUNT,
    default=64,
    help="Fills that may wait, for all users; more are refused.",
)
@click.option(
    "--drain",
    "drain_s",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    default=5.0,
    help="Refuse new fills this long after SIGTERM, so that a balancer notices.",
)
def serve(**flags: Any) -> None:
    """Serve until Ctrl-C or SIGTERM; print the log, without code."""
    load("intarsia.cli.serve_team").run(**flags)


@command.command("key")
@click.argument("name")
@click.option("--keys", type=_FILE, required=True, help="The file to add it to, created if needed.")
def key(name: str, keys: Path) -> None:
    """Make a key for user NAME: print it once, add its digest to the file.

    Running engines accept it at once. To revoke a key, delete its line.
    """
    try:
        click.echo(add_user(keys, name))
    except KeyFileError as error:
        raise CliError(str(error)) from error
    except OSError as error:
        raise CliError(f"{keys} cannot be written: {error}", ExitCode.NOT_WRITTEN) from error
