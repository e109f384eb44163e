"""Measure how many users a team's engine serves here, and simulate more users.

Run it with ``python -m intarsia_research.team_load COMMAND``; README.md beside this file tells how.
"""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from intarsia.engine.model_store.catalog import DEFAULT_MODEL
from intarsia_research.benchmark.report.figure_table import shown_value
from intarsia_research.errors import EvaluationFault
from intarsia_research.team_load.beside_heavy import BesideHeavy, measure_beside_heavy
from intarsia_research.team_load.costs import EngineCosts, FillCost, as_json, read_costs
from intarsia_research.team_load.real_load import LoadOptions, measure_load
from intarsia_research.team_load.simulated_batches import simulate_batches
from intarsia_research.team_load.simulated_engine import simulate
from intarsia_research.team_load.typing_users import Habits, asks_of
from intarsia_research.team_load.waits import Waits, shown_percentiles

_model = click.option("--model", default=DEFAULT_MODEL, show_default=True)
_seed = click.option("--seed", default=0, show_default=True)
_FILE = click.Path(path_type=Path, dir_okay=False)
_COUNT = click.IntRange(min=1)
_COUNTS = (1, 2, 4, 6, 8, 12, 16, 24)


@click.group()
def main() -> None:
    """Load of a team's engine: real users here, simulated ones beyond."""


@main.command()
@_model
@click.option("--heavy", "num_heavy", type=_COUNT, default=7, show_default=True)
@click.option("--seconds", default=60.0, show_default=True, help="Of typing, in each turn.")
@click.option("--turns", type=_COUNT, default=4, show_default=True)
@_seed
def beside(**options: Any) -> None:
    """A typing user beside users who never pause, and alone."""
    figures = asyncio.run(measure_beside_heavy(BesideHeavy(**options)))
    for figure in figures:
        click.echo(f"{figure.words}: {shown_value(figure)} ({figure.method})")


@main.command()
@_model
@click.option("--users", "num_users", type=_COUNT, default=6, show_default=True)
@click.option("--seconds", default=120.0, show_default=True)
@click.option("--costs", "path", type=_FILE, help="Write the costs of one user's fills there.")
@_seed
def load(path: Path | None, **options: Any) -> None:
    """Typing users at a real engine, and the same users simulated."""
    figures = asyncio.run(measure_load(LoadOptions(**options)))
    if path is not None:
        path.write_bytes(as_json(figures.costs))
    click.echo("wait at halts, p50 / p95 ms    context held   new place   unanswered   busy")
    for name, waits in (("real", figures.real), ("simulated", figures.simulated)):
        click.echo(f"{name:<31}{_row(waits)}")
    memory = figures.bytes_a_user / 2**20
    click.echo(f"memory a user: {figures.tokens_a_user:,.0f} tokens, {memory:.0f} MiB")


@main.command()
@click.option("--costs", "path", type=_FILE, help="Measured by `load`; else the options below.")
@click.option("--lanes", "num_lanes", type=_COUNT, default=1, show_default=True)
@click.option("--pass-ms", default=35.0, show_default=True)
@click.option("--passes", default=3, show_default=True)
@click.option("--chunk-ms", default=55.0, show_default=True)
@click.option("--chunks", default=40, show_default=True, help="Of a new place.")
@click.option("--users", "counts", type=_COUNT, multiple=True, default=_COUNTS)
@click.option("--seconds", default=600.0, show_default=True)
@_seed
def capacity(
    path: Path | None,
    num_lanes: int,
    counts: Sequence[int],
    seconds: float,
    seed: int,
    **cost: float,
) -> None:
    """Simulated waits of more and more users. With --lanes: of a server that joins passes."""
    costs = read_costs(path) if path is not None else _assumed(cost)
    click.echo("users  wait at halts, p50 / p95 ms: context held, new place; unanswered; busy")
    for count in counts:
        asks = asks_of(count, seconds, Habits(), seed)
        if num_lanes == 1:
            waits = simulate(asks, costs, seed)
        else:
            waits = simulate_batches(asks, costs, num_lanes, seed)
        click.echo(f"{count:>5}{_row(waits)}")


def _assumed(cost: Mapping[str, float]) -> EngineCosts:
    warm = FillCost(
        num_chunks=0,
        chunk_ms=cost["chunk_ms"],
        num_passes=int(cost["passes"]),
        pass_ms=cost["pass_ms"],
    )
    new = msgspec.structs.replace(warm, num_chunks=int(cost["chunks"]))
    return EngineCosts(machine="assumed", warm=(warm,), new_place=(new,))


def _row(waits: Waits) -> str:
    busy = "" if waits.busy_share is None else f"{waits.busy_share:.0%}"
    return (
        f"{shown_percentiles(waits.warm_ms):>14} {shown_percentiles(waits.new_place_ms):>16} "
        f"{waits.unanswered_share:>8.0%} {busy:>8}"
    )


if __name__ == "__main__":
    try:
        main()
    except EvaluationFault as error:
        sys.exit(f"team_load: {error}")
