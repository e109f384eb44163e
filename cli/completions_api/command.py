"""``intarsia door``: a completions API for editors that speak nothing else, while it runs."""

import asyncio
import contextlib
import signal

import click

from intarsia.cli.completions_api.completions import Completions, write_fault
from intarsia.cli.completions_api.http import HttpDoor
from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.options import debug_option
from intarsia.engine.ipc.client import EngineClient

HOST = "127.0.0.1"


@click.command("door")
@click.option("--port", default=9258, show_default=True, type=click.IntRange(0, 65535))
@debug_option
def command(port: int) -> ExitCode:
    """Serve /v1/completions on this machine alone, until it is interrupted."""
    asyncio.run(_serve(port))
    return ExitCode.OK


async def _serve(port: int) -> None:
    async with EngineClient(name="door") as client:
        door = HttpDoor(Completions(client).handle, write_fault)
        try:
            server = await asyncio.start_server(door.accept, HOST, port)
        except OSError as error:
            raise CliError(f"port {port} cannot be had ({error}): give another --port") from error
        bound = server.sockets[0].getsockname()[1]
        click.echo(f"http://{HOST}:{bound}/v1/completions answers; Ctrl-C ends it", err=True)
        async with server:
            await _until_interrupted()
            server.close()
            await door.close()


async def _until_interrupted() -> None:
    interrupted = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows raises KeyboardInterrupt instead
            loop.add_signal_handler(number, interrupted.set)
    await interrupted.wait()
