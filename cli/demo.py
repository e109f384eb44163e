"""``intarsia demo``: holes in the sample files, filled by the engine."""

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
from intarsia.cli.options import debug_option, fill_options
from intarsia.cli.terminal import notices, output
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.fill_in_order import fill_in_order
from intarsia.infill.filling.fill_one import FillResult
from intarsia.infill.filling.options import FillContext, FillOptions
from intarsia.infill.filling.outcome import FilledPlace
from intarsia.infill.languages import Language, language_for_path

_FOLDER = Path(__file__).parent / "samples"


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One hole of one file; ``shows`` says in plain words what kind of hole it is."""

    file: str
    text: str
    language: Language
    at: Position
    shows: str


def read_samples() -> Sequence[Sample]:
    """Return the holes in the order in which they are shown."""
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


@dataclass(frozen=True, kw_only=True, slots=True)
class FilledSample:
    """A sample and what became of its hole."""

    sample: Sample
    filling: FilledPlace


@click.command("demo")
@click.option("--watch", is_flag=True, help="Show each canvas while it settles.")
@fill_options
@debug_option
def command(watch: bool, **options: Any) -> ExitCode:
    """Fill holes in the sample files, and show each before and after. Exit code 1 where one fails.

    The sample files have real holes: what is filled in is the model's own, written now.
    """
    console = output()
    done = asyncio.run(_fill_samples(console, FillOptions(**options), watch=watch))
    console.print(_summary(done))
    failed = [one for one in done if one.filling.refusal]
    return ExitCode.NOTHING if failed else ExitCode.OK


async def _fill_samples(
    console: Console, options: FillOptions, *, watch: bool
) -> Sequence[FilledSample]:
    done = []
    with WaitingView(notices(), watch=watch) as view:
        async with EngineClient(name="cli", on_load_progress=view.on_load_progress) as client:
            await client.preload(options.model)  # so that no fill's time holds the load
            for sample in read_samples():
                places = [cursor_at(sample.text, sample.at)]
                context = FillContext(
                    ask=client.fill, language=sample.language, options=options, on_step=view.on_step
                )
                async for filling in fill_in_order(context, sample.text, places):
                    view.hide()
                    _show(console, sample, filling)
                    done.append(FilledSample(sample=sample, filling=filling))
    return done


def _show(console: Console, sample: Sample, filling: FilledPlace) -> None:
    console.rule(Text(f"{sample.shows} · {sample.language.id}"), align="left", style="dim")
    show_filling(console, sample.file, sample.text, filling, sample.language)
    console.print()


def _summary(done: Sequence[FilledSample]) -> Table:
    table = Table(box=SIMPLE_HEAD)
    table.add_column("file")
    table.add_column("hole")
    for name in ("tokens", "steps", "ms"):
        table.add_column(name, justify="right")
    table.add_column("filled")
    for one in done:
        table.add_row(one.sample.file, one.sample.shows, *_figures(one.filling))
    return table


def _figures(filling: FilledPlace) -> tuple[str, str, str, str]:
    """Return tokens, steps, milliseconds and the verdict."""
    if not isinstance(filling.outcome, FillResult):
        return "", "", "", "no"
    filled = filling.outcome.filled
    verdict = "no" if filling.refusal else "yes"
    return str(len(filled.tokens)), str(filled.num_forwards), f"{filled.ms.total:.0f}", verdict
