"""``intarsia bench``: speed and memory on this machine, measured as a user meets them.

An engine of its own is started, so that one that runs is neither disturbed nor measured.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.box import SIMPLE_HEAD
from rich.table import Table

from intarsia.cli.bench_fills import measure_fills
from intarsia.cli.bench_passes import measure_passes
from intarsia.cli.bench_prefill import measure_prefill
from intarsia.cli.bench_requests import measure_requests
from intarsia.cli.bench_server import measure_server
from intarsia.cli.bench_start import measure_start
from intarsia.cli.bench_typing import measure_typing
from intarsia.cli.bench_users import measure_users
from intarsia.cli.console import notices, output
from intarsia.cli.figures import Bench, Figure
from intarsia.cli.fill_options import fill_options
from intarsia.cli.load_bar import LoadBar
from intarsia.cli.machine import describe_machine
from intarsia.cli.switches import debug_option, json_option
from intarsia.engine.ipc.address import resolve_address
from intarsia.engine.ipc.client import EngineClient, NoEngine
from intarsia.filling.options import FillOptions

Section = Callable[[Bench], Awaitable[Sequence[Figure]]]

SECTIONS: tuple[tuple[str, Section], ...] = (
    ("starting engines", measure_start),
    ("starting the language server", measure_server),
    ("reading context", measure_prefill),
    ("a pass over a canvas", measure_passes),
    ("filling single lines", measure_fills),
    ("asking the language server", measure_requests),
    ("typing", measure_typing),
    ("several users at once", measure_users),
)
"""In this order: the first leaves a warm engine to the others."""


@click.command("bench")
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=12,
    show_default=True,
    help="Holes to fill, and starts to time (at most 3).",
)
@fill_options
@json_option
@debug_option
def command(repeats: int, as_json: bool, **options: Any) -> None:
    """Measure engine start, prefill, single-line fills and memory on this machine."""
    figures = asyncio.run(_measure(FillOptions(**options), repeats))
    if as_json:
        values = {figure.name: figure.value for figure in figures}
        click.echo(msgspec.json.encode({"machine": describe_machine(), "figures": values}))
    else:
        output().print(_table(figures))


async def _measure(options: FillOptions, repeats: int) -> list[Figure]:
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="intarsia-") as folder, LoadBar(notices()) as bar:
        own = Path(folder) / "run"
        address = replace(resolve_address(), directory=own, log_directory=own)
        async with EngineClient(name="bench", address=address) as client:
            bench = Bench(client=client, address=address, options=options, repeats=repeats)
            try:
                for done, (words, measure) in enumerate(SECTIONS):
                    bar.update(words, done / len(SECTIONS))
                    figures += await measure(bench)
            finally:
                with suppress(NoEngine):
                    await client.stop()
    return figures


def _table(figures: Sequence[Figure]) -> Table:
    table = Table(box=SIMPLE_HEAD, caption=describe_machine(), caption_justify="left")
    table.add_column("figure")
    table.add_column("value", justify="right")
    table.add_column("how it is measured", overflow="fold")
    for figure in figures:
        table.add_row(figure.words, f"{_short(figure.value)} {figure.unit}", figure.method)
    return table


def _short(value: float) -> str:
    """Return three digits that count, and never an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
