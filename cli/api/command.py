"""``intarsia api``: completions for editors and plugins that speak another engine's HTTP API."""

from pathlib import Path
from typing import Any

import click

from intarsia.cli.command_table import load
from intarsia.cli.errors import ExitCode

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("api")
@click.option("--host", default="127.0.0.1", help="The address to listen on.")
@click.option(
    "--port",
    default=9258,
    type=click.IntRange(0, 65535),
    help="The port to listen on; 0 picks a free one.",
)
@click.option(
    "--key-file",
    type=_FILE,
    help="A file with the keys of clients, one per line, plain or as sha256:HASH. Mode 0600.",
)
@click.option("--tls-cert", type=_FILE, help="The server's certificate, in PEM form.")
@click.option("--tls-key", type=_FILE, help="The certificate's private key.")
def command(**options: Any) -> ExitCode:
    """Serve completions as OpenAI, llama.cpp and Ollama do, until Ctrl-C.

    Programs on this machine need no key. Beyond this machine, a key file, a certificate and its key
    are required.
    """
    load("intarsia.cli.api.server").run(**options)
    return ExitCode.OK
