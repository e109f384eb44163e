"""``intarsia demo``: fill holes in the sample files and show each before and after."""

import asyncio
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from intarsia.cli.errors import ExitCode
from intarsia.cli.fill.positions import Position, parse_position
from intarsia.cli.fill.show import show_filling
from intarsia.cli.fill.source_file import read_source
from intarsia.cli.fill.where import cursor_at
from intarsia.cli.live_view import WaitingView
from intarsia.cli.options import fill_options
from intarsia.cli.terminal import notices, output
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.fill_places import fill_in_order
from intarsia.infill.filling.outcome import FilledPlace, FillResult
from intarsia.infill.filling.plan import FillContext, FillOptions
from intarsia.infill.languages import Language, language_for_path

_FOLDER = Path(__file__).parent / "samples"


@click.command("demo")
@click.option("--watch", is_flag=True, help="Show each canvas while it settles.")
@fill_options
def command(watch: bool, **options: Any) -> ExitCode:
    """Fill holes in the sample files and show each before and after. Exit code 1 if one fails.

    The fills are not canned: the model writes them now.
    """
    console = output()
    filled = asyncio.run(_fill_samples(console, FillOptions(**options), watch=watch))
    console.print(_summary(filled))
    return ExitCode.NOTHING if any(it.refusal for _, it in filled) else ExitCode.OK


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One hole of one file; ``shows`` describes the kind of hole."""

    file: str
    text: str
    language: Language
    at: Position
    shows: str


def read_samples() -> Sequence[Sample]:
    """Return the holes in their order of display."""
    table = tomllib.loads((_FOLDER / "holes.toml").read_text(encoding="utf-8"))
    return [
        Sample(
            file=row["file"],
            text=read_source(_FOLDER / row["file"]).text,
            language=language_for_path(row["file"]),
            at=parse_position(row["at"]),
            shows=row["shows"],
        )
        for row in table["hole"]
    ]


async def _fill_samples(
    console: Console, options: FillOptions, *, watch: bool
) -> Sequence[tuple[Sample, FilledPlace]]:
    done = []
    with WaitingView(notices(), watch=watch) as view:
        async with EngineClient(name="cli", on_load_progress=view.on_load_progress) as client:
            await client.preload(options.model)  # so that no fill's time includes the load
            view.wait()
            for sample in read_samples():
                places = [cursor_at(sample.text, sample.at)]
                context = FillContext(
                    ask=client.fill, language=sample.language, options=options, on_step=view.on_step
                )
                async for filling in fill_in_order(context, sample.text, places):
                    view.hide()
                    _show(console, sample, filling)
                    view.wait()
                    done.append((sample, filling))
    return done


def _show(console: Console, sample: Sample, filling: FilledPlace) -> None:
    console.rule(Text(f"{sample.shows} · {sample.language.id}"), align="left", style="dim")
    show_filling(console, sample.file, sample.text, filling, sample.language)
    console.print()


def _summary(done: Sequence[tuple[Sample, FilledPlace]]) -> Table:
    table = Table(box=SIMPLE_HEAD)
    table.add_column("file")
    table.add_column("hole")
    for name in ("tokens", "forward passes", "ms"):
        table.add_column(name, justify="right")
    table.add_column("filled")
    for sample, filling in done:
        table.add_row(sample.file, sample.shows, *_figures(filling))
    return table


def _figures(filling: FilledPlace) -> tuple[str, str, str, str]:
    """Return tokens, forward passes, milliseconds and whether the hole was filled."""
    if not isinstance(filling.outcome, FillResult):
        return "", "", "", "no"
    filled = filling.outcome.filled
    is_filled = "no" if filling.refusal else "yes"
    return str(len(filled.tokens)), str(filled.num_forwards), f"{filled.ms.total:.0f}", is_filled
