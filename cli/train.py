"""``intarsia train``: weights from a corpus, on this machine."""

from pathlib import Path
from typing import Literal, TypeAlias

import click

from intarsia.cli.console import notices
from intarsia.cli.exit_codes import ExitCode
from intarsia.cli.faults import CliError
from intarsia.cli.load_bar import LoadBar
from intarsia.cli.switches import debug_option
from intarsia.engine.default_model.catalog import DEFAULT_MODEL

What: TypeAlias = Literal["adapter", "tuning"]


@click.command("train")
@click.argument("what", type=click.Choice(["adapter", "tuning"]))
@click.option(
    "--corpus",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    required=True,
    help="A folder made by `intarsia corpus build`.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="The run's folder; a run that was interrupted goes on from it.",
)
@click.option("--model", default=DEFAULT_MODEL, show_default=True, help="The backbone.")
@click.option(
    "--start",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Weights of an earlier run to begin from.",
)
@click.option(
    "--tuning",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="adapter: the backbone's tuning, on which it is trained.",
)
@click.option("--minutes", type=click.FloatRange(min=0, min_open=True), help="Train so long.")
@click.option("--tokens", type=click.IntRange(min=1), help="Learn at so many places.")
@click.option("--rank", type=click.IntRange(min=1, max=512), help="Of the low-rank matrices.")
@click.option("--rate", type=click.FloatRange(min=0, min_open=True), help="Peak learning rate.")
@click.option(
    "--holes-per-pass", type=click.IntRange(min=1), default=4, show_default=True, help="At once."
)
@click.option(
    "--passes-per-step", type=click.IntRange(min=1), default=1, show_default=True, help="Passes."
)
@click.option(
    "--holes-per-file", type=click.IntRange(min=1), default=6, show_default=True, help="Drawn."
)
@click.option("--seed", type=int, default=0, show_default=True)
@debug_option
def command(
    what: What,
    corpus: Path,
    out: Path,
    model: str,
    start: Path | None,
    tuning: Path | None,
    minutes: float | None,
    tokens: int | None,
    rank: int | None,
    rate: float | None,
    holes_per_pass: int,
    passes_per_step: int,
    holes_per_file: int,
    seed: int,
) -> ExitCode:
    """Train weights of the default model's kind on a corpus.

    adapter: the gated adapter, which proposes several tokens a pass. tuning: low-rank changes to
    the backbone itself, which make it fill holes better and end where they end.

    Ctrl-C ends a run in good order; the same command goes on with it. Nothing leaves this machine.
    """
    if minutes is None and tokens is None:
        raise CliError("name --minutes or --tokens: how long to train")
    from intarsia.cli.train_run import TrainingOrder, run_training

    order = TrainingOrder(
        what=what,
        corpus=corpus,
        model=model,
        start=start,
        tuning=tuning,
        minutes=minutes,
        tokens=tokens,
        rank=rank,
        rate=rate,
        holes_per_pass=holes_per_pass,
        passes_per_step=passes_per_step,
        holes_per_file=holes_per_file,
        seed=seed,
    )
    with LoadBar(notices()) as bar:
        figures = run_training(order, out, bar.update)
    for name, value in figures.items():
        click.echo(f"{name.replace('_', ' ')}: {value:.3f}")
    click.echo(f"the weights are in {out / 'adapter.safetensors'}")
    return ExitCode.OK
