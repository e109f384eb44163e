"""``intarsia demo``: holes in the sample files, filled by the engine."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from intarsia.cli.console import notices, output
from intarsia.cli.exit_codes import ExitCode
from intarsia.cli.fill_options import fill_options
from intarsia.cli.fill_places import cursor_at
from intarsia.cli.sample_holes import Sample, read_samples
from intarsia.cli.show_filling import show_filling
from intarsia.cli.switches import debug_option
from intarsia.cli.waiting_view import WaitingView
from intarsia.engine.ipc.client import EngineClient
from intarsia.filling.fill_hole import FillOutcome
from intarsia.filling.fill_in_order import fill_in_order
from intarsia.filling.filling import Filling
from intarsia.filling.options import FillOptions


@dataclass(frozen=True, kw_only=True, slots=True)
class FilledSample:
    """A sample and what became of its hole."""

    sample: Sample
    filling: Filling


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
                fillings = fill_in_order(
                    client.fill, sample.text, places, sample.language, options, view.on_step
                )
                async for filling in fillings:
                    view.hide()
                    _show(console, sample, filling)
                    done.append(FilledSample(sample=sample, filling=filling))
    return done


def _show(console: Console, sample: Sample, filling: Filling) -> None:
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


def _figures(filling: Filling) -> tuple[str, str, str, str]:
    """Return tokens, steps, milliseconds and the verdict."""
    if not isinstance(filling.outcome, FillOutcome):
        return "", "", "", "no"
    filled = filling.outcome.filled
    verdict = "no" if filling.refusal else "yes"
    return str(len(filled.tokens)), str(filled.steps), f"{filled.ms.total:.0f}", verdict
