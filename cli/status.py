"""``intarsia status``: show what the engine is doing now, or how suggestions were received."""

import asyncio
from collections.abc import Iterable

import click
import msgspec
from rich.table import Table

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.terminal import duration, json_option, output, size, two_columns
from intarsia.engine.ipc.client import EngineClient, NoEngine
from intarsia.engine.ipc.messages import Status
from intarsia.lsp.statistics import KeptCounts, LanguageCounts, read_counts, statistics_file


def show_statistics(*, as_json: bool) -> None:
    """Print the counts. What happened in the last minute may not be in them yet."""
    path = statistics_file()
    kept = read_counts(path)
    if as_json:
        click.echo(msgspec.json.encode(kept))
        return
    console = output()
    if kept.counts.is_empty:
        console.print("Nothing was counted yet (or the setting `statistics` is off).")
        return
    console.print(_by_language(kept))
    if kept.counts.not_shown:
        console.print("\nRequests without a suggestion, by reason:")
        reasons = sorted(kept.counts.not_shown.items(), key=lambda it: (-it[1], it[0]))
        console.print(two_columns((it.replace("_", " "), f"{number:,}") for it, number in reasons))
    console.print(f"\nCounts only, on this machine: {path}", soft_wrap=True)


def _by_language(kept: KeptCounts) -> Table:
    table = Table(title=f"Suggestions since {kept.since}", title_justify="left", box=None)
    table.add_column("")
    for name in ("shown", "accepted", "share", "kept 30 s", "share"):
        table.add_column(name, justify="right")
    languages = sorted(kept.counts.languages.items(), key=lambda it: (-it[1].shown, it[0]))
    for language, counts in languages:
        table.add_row(language, *_cells(counts))
    if len(languages) > 1:
        table.add_row("all", *_cells(kept.counts.total))
    return table


def _cells(counts: LanguageCounts) -> Iterable[str]:
    yield f"{counts.shown:,}"
    yield f"{counts.accepted:,}"
    yield _share(counts.accepted, counts.shown)
    yield f"{counts.kept:,}"
    yield _share(counts.kept, counts.ended)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else ""


@click.command("status")
@click.option(
    "--stats",
    "shows_statistics",
    is_flag=True,
    help="Show how many suggestions were shown, accepted and kept in your editors, by language.",
)
@json_option
def command(shows_statistics: bool, as_json: bool) -> None:
    """Show what the engine is doing. Exit code 3 if it is not running."""
    if shows_statistics:
        show_statistics(as_json=as_json)
        return
    try:
        status = asyncio.run(ask_status())
    except NoEngine as error:
        raise CliError(
            "the engine is not running: the next fill starts it, and so does `intarsia engine`",
            ExitCode.ENGINE,
        ) from error
    if as_json:
        click.echo(msgspec.json.encode(status))
    else:
        output().print(two_columns(_rows(status)))


async def ask_status() -> Status:
    """Return the status of the running engine. Raises NoEngine: none is started for it."""
    async with EngineClient(name="cli", start=False) as client:
        return await client.status()


def _rows(status: Status) -> Iterable[tuple[str, str]]:
    yield "engine", f"{status.state} (process {status.pid}, build {status.build})"
    if status.state in ("filling", "loading"):
        yield "", f"last step {duration(status.quiet_s)} ago"
    yield "model", _model(status)
    for note in status.notes:
        yield "", note
    if status.cache_folder:
        yield "models in", status.cache_folder
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
