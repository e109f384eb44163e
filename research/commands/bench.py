"""``bench``: measure speed and memory on this machine, as a user meets them.

It starts its own engine, so that a running engine is neither disturbed nor measured.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import click

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.live_view import LoadBar
from intarsia.cli.options import fill_options
from intarsia.cli.terminal import json_option, notices, output
from intarsia.infill.filling.plan import FillOptions
from intarsia_research.benchmark.figure_table import as_json as shown_as_json
from intarsia_research.benchmark.figure_table import as_table
from intarsia_research.benchmark.figures import Figure
from intarsia_research.benchmark.machine import describe_machine
from intarsia_research.benchmark.pictures import draw_pictures
from intarsia_research.benchmark.sections import SECTIONS, run_sections
from intarsia_research.commands.baselines import (
    BaselineName,
    against_option,
    baseline_named,
    each_once,
    llama_server_option,
)
from intarsia_research.commands.termination import termination_as_interrupt


@click.command("bench")
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=12,
    help="Holes to fill and places to type at; fewer in slow sections.",
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
    help="Draw the figures there as SVG.",
)
@fill_options
@json_option
def command(
    repeats: int,
    baselines: Sequence[BaselineName],
    llama_server: Path | None,
    names: Sequence[str],
    pictures: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Measure starts, prefill, fills, typing and memory here, with or without baselines."""
    sections = [section for section in SECTIONS if section.name in names or not names]
    fill = FillOptions(**options, is_fresh=True)  # no warm start
    programs = [
        baseline_named(name, model=fill.model, llama_server=llama_server) for name in baselines
    ]
    with termination_as_interrupt(), LoadBar(notices()) as bar:  # engines and baselines end with it
        running = run_sections(
            sections, options=fill, repeats=repeats, baselines=programs, on_progress=bar.update
        )
        figures, is_whole = measure(running)
    if pictures is not None:
        for path in draw_pictures(figures, pictures):
            notices().print(f"wrote {path}")
    if as_json:
        click.echo(shown_as_json(figures, describe_machine()))
    else:
        output().print(as_table(figures, describe_machine()))
    if not is_whole:
        raise CliError("interrupted: sections are missing above", ExitCode.INTERRUPTED)


def measure(running: AsyncIterator[Sequence[Figure]]) -> tuple[list[Figure], bool]:
    """Return all figures, or those until Ctrl-C, which says the second value: they took minutes."""
    figures: list[Figure] = []

    async def collect() -> None:
        async for part in running:
            figures.extend(part)

    try:
        asyncio.run(collect())
    except KeyboardInterrupt:
        if not figures:
            raise
        return figures, False
    return figures, True
