"""``intarsia bench``: speed and memory on this machine, measured as a user meets them.

An engine of its own is started, so that one that runs is neither disturbed nor measured.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from intarsia.cli.baselines import (
    BaselineName,
    against_option,
    baseline_named,
    each_once,
    llama_server_option,
)
from intarsia.cli.errors import CliError
from intarsia.cli.live_view import LoadBar
from intarsia.cli.options import fill_options
from intarsia.cli.switches import debug_option, json_option
from intarsia.cli.terminal import notices, output, termination_as_interrupt
from intarsia.engine.ipc.launch import LaunchOptions
from intarsia.infill.filling.options import FillOptions
from intarsia.research.benchmark.figure_table import as_json as shown_as_json
from intarsia.research.benchmark.figure_table import as_table
from intarsia.research.benchmark.figures import Bench, Figure
from intarsia.research.benchmark.fresh_engine import fresh_engine
from intarsia.research.benchmark.machine import describe_machine
from intarsia.research.benchmark.pictures import draw_pictures, require_drawing
from intarsia.research.benchmark.sections import SECTIONS, Section
from intarsia.research.evaluation.systems.baseline import Baseline


@click.command("bench")
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=12,
    show_default=True,
    help="Holes to fill and places to type at; where one takes long, fewer.",
)
@against_option
@llama_server_option
@click.option(
    "--only",
    "names",
    metavar="SECTION",
    type=click.Choice([section.name for section in SECTIONS]),
    multiple=True,
    callback=each_once,
    help=f"Measure only this: {', '.join(section.name for section in SECTIONS)}; repeatable.",
)
@click.option(
    "--pictures",
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    help="Draw the figures there, as SVG (needs matplotlib: pip install 'intarsia[train]').",
)
@fill_options
@json_option
@debug_option
def command(
    repeats: int,
    baselines: Sequence[BaselineName],
    llama_server: Path | None,
    names: Sequence[str],
    pictures: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Measure starts, reading, fills, typing and memory on this machine, alone or beside others."""
    wanted = [section for section in SECTIONS if section.name in names or not names]
    if not baselines and (needy := [it.name for it in wanted if it.needs_baselines and names]):
        raise CliError(f"{needy[0]} measures us beside others: name them by --against")
    if pictures is not None:
        require_drawing()
    fill = FillOptions(**options, is_fresh=True)  # what is written before is not to help
    found = [
        baseline_named(name, model=fill.model, llama_server=llama_server) for name in baselines
    ]
    with termination_as_interrupt():  # engines and baselines end with it
        figures = asyncio.run(_measure(fill, repeats, found, wanted))
    if pictures is not None:
        for path in draw_pictures(figures, pictures):
            notices().print(f"drawn: {path}")
    if as_json:
        click.echo(shown_as_json(figures, describe_machine()))
    else:
        output().print(as_table(figures, describe_machine()))


async def _measure(
    options: FillOptions, repeats: int, baselines: Sequence[Baseline], sections: Sequence[Section]
) -> list[Figure]:
    figures: list[Figure] = []
    launch = LaunchOptions()
    with LoadBar(notices()) as bar:
        bar.update("starting an engine", 0.0)
        async with fresh_engine(launch) as (client, address):
            await client.preload(options.model)
            bench = Bench(
                client=client,
                address=address,
                options=options,
                repeats=repeats,
                launch=launch,
                baselines=baselines,
            )
            for done, section in enumerate(sections):
                bar.update(section.words, done / len(sections))
                figures += await section.measure(bench)
    return figures
