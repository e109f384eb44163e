"""``intarsia status``: show what the engine is doing now, or how suggestions were received."""

import asyncio
from collections.abc import Iterable

import click
import msgspec

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.switches import debug_option, json_option
from intarsia.cli.units import duration, size
from intarsia.engine.ipc.client import EngineClient, NoEngine
from intarsia.engine.ipc.messages import Status


@click.command("status")
@click.option(
    "--stats",
    "shows_statistics",
    is_flag=True,
    help="Show how many suggestions were shown, accepted and kept in your editors, by language.",
)
@json_option
@debug_option
def command(shows_statistics: bool, as_json: bool) -> None:
    """Show what the engine is doing. Exit code 3 if it is not running."""
    from intarsia.cli.terminal import output, two_columns

    if shows_statistics:
        from intarsia.cli.statistics import show_statistics

        show_statistics(as_json=as_json)
        return
    try:
        status = asyncio.run(_ask())
    except NoEngine as error:
        raise CliError(
            "the engine is not running: the next fill starts it, and so does `intarsia engine`",
            ExitCode.ENGINE,
        ) from error
    if as_json:
        click.echo(msgspec.json.encode(status))
    else:
        output().print(two_columns(_rows(status)))


async def _ask() -> Status:
    async with EngineClient(name="cli", start=False) as client:
        return await client.status()


def _rows(status: Status) -> Iterable[tuple[str, str]]:
    yield "engine", f"{status.state} (process {status.pid}, build {status.build})"
    if status.state in ("filling", "loading"):
        yield "", f"last step {duration(status.quiet_s)} ago"
    yield "model", _model(status)
    for note in status.notes:
        yield "", note
    yield "memory", f"{size(status.resident_bytes)} resident"
    yield "context", f"{status.cached_tokens} tokens cached from earlier fills"
    yield "fills", str(status.num_fills)
    yield "fills ahead", _ahead(status)
    yield "clients", f"{status.num_clients - 1} besides this command"
    idle = duration(status.idle_timeout_s)
    yield "running", f"for {duration(status.uptime_s)}; ends after {idle} without a request"


def _ahead(status: Status) -> str:
    ahead = status.ahead
    if not ahead.num_asked:
        return "none"
    wasted = duration(ahead.spent_s - ahead.used_s)
    return f"{ahead.num_asked} asked, {ahead.num_hits} of use; {wasted} wasted"


def _model(status: Status) -> str:
    if status.model is None:
        return "none loaded yet: the first fill loads it"
    return f"{status.model} ({status.family}, {status.dtype} on {status.device})"
