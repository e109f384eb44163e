"""``intarsia stop``: end the engine and free its memory."""

import asyncio

import click

from intarsia.cli.live_view import LoadBar
from intarsia.cli.terminal import notices
from intarsia.engine.ipc.client import EngineClient, NoEngine


@click.command("stop")
def command() -> None:
    """Stop the engine, even if it is busy, and wait until it has stopped."""
    try:
        with LoadBar(notices(), "stopping the engine"):
            asyncio.run(_stop())
    except NoEngine:
        click.echo("The engine was not running.")
    else:
        click.echo("The engine has stopped.")


async def _stop() -> None:
    async with EngineClient(name="cli", start=False) as client:
        await client.stop()
