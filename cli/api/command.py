"""``intarsia api``: completions for editors and plugins that speak another engine's HTTP API."""

import asyncio
import contextlib
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from intarsia.cli.errors import ExitCode

if TYPE_CHECKING:
    from intarsia.cli.api.server import Listening

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("api")
@click.option("--host", default="127.0.0.1", help="The address to listen on.")
@click.option(
    "--port",
    default=9258,
    type=click.IntRange(0, 65535),
    help="The port to listen on; 0: a free one.",
)
@click.option(
    "--key-file",
    type=_FILE,
    help="Keys that clients must present, one a line, or sha256: and its hash. Mode 0600.",
)
@click.option("--tls-cert", type=_FILE, help="The server's certificate, in PEM form.")
@click.option("--tls-key", type=_FILE, help="The certificate's private key.")
def command(**options: Any) -> ExitCode:
    """Serve completions as OpenAI, llama.cpp and Ollama do, until Ctrl-C.

    Programs on this machine need no key. Beyond it a key file, a certificate and its key are
    required.
    """
    from intarsia.cli.api.server import listen  # the server's libraries load here

    asyncio.run(_serve(listen(**options)))
    return ExitCode.OK


async def _serve(listening: "Listening") -> None:
    from intarsia.cli.api.server import guarded_app, serve
    from intarsia.engine.ipc.client import EngineClient

    async with (
        EngineClient(name="api") as client,
        EngineClient(name="api", start=False) as observer,
    ):
        app = guarded_app(client, observer, keys=listening.keys, is_loopback=listening.is_loopback)
        click.echo(f"{listening.url}/v1/completions is ready; Ctrl-C ends it", err=True)
        await serve(app, listening, _interrupted())


def _interrupted() -> asyncio.Event:
    """Return an event that Ctrl-C and SIGTERM set."""
    interrupted = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows raises KeyboardInterrupt instead
            loop.add_signal_handler(number, interrupted.set)
    return interrupted
