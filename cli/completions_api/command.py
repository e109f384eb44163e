"""``intarsia api``: a completions API for editors without LSP, for as long as it runs."""

import asyncio
import contextlib
import signal

import click

from intarsia.cli.completions_api.completions import Completions, write_error
from intarsia.cli.completions_api.http import HttpServer
from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.switches import debug_option
from intarsia.engine.ipc.client import EngineClient

HOST = "127.0.0.1"


@click.command("api")
@click.option(
    "--port",
    default=9258,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="The port to listen on; 0: a free one.",
)
@debug_option
def command(port: int) -> ExitCode:
    """Serve /v1/completions to programs on this machine, until Ctrl-C."""
    asyncio.run(_serve(port))
    return ExitCode.OK


async def _serve(port: int) -> None:
    async with EngineClient(name="api") as client:
        http = HttpServer(Completions(client).handle, write_error)
        try:
            server = await asyncio.start_server(http.accept, HOST, port)
        except OSError as error:
            raise CliError(f"port {port} is unavailable ({error}): give another --port") from error
        bound = server.sockets[0].getsockname()[1]
        click.echo(f"http://{HOST}:{bound}/v1/completions is ready; Ctrl-C ends it", err=True)
        async with server:
            await _until_interrupted()
            server.close()
            await http.close()


async def _until_interrupted() -> None:
    interrupted = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows raises KeyboardInterrupt instead
            loop.add_signal_handler(number, interrupted.set)
    await interrupted.wait()
