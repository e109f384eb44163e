"""``train edits``: train the edit adapter of a model on edits of commits."""

from pathlib import Path
from typing import Any

import click

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.live_view import LoadBar
from intarsia.cli.switches import debug_option
from intarsia.cli.terminal import notices
from intarsia.engine.model_store.catalog import DEFAULT_MODEL

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_NUMBER = click.IntRange(min=1)


@click.command("edits", short_help="The adapter that repeats an edit at other places.")
@click.option(
    "--set",
    "sets",
    type=_FILE,
    multiple=True,
    required=True,
    help="A file written by `corpus edits`; repeatable.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="The run's folder; an interrupted run continues from it.",
)
@click.option("--model", default=DEFAULT_MODEL, show_default=True, help="The model to train.")
@click.option("--start", type=_FILE, help="Weights of an earlier run to start from.")
@click.option(
    "--minutes",
    metavar="N",
    type=click.FloatRange(min=0, min_open=True),
    help="Train for N minutes.",
)
@click.option("--tokens", metavar="N", type=_NUMBER, help="Stop after N tokens of answers.")
@click.option(
    "--rank",
    type=click.IntRange(min=1, max=512),
    default=32,
    show_default=True,
    help="Rank of the low-rank matrices; in int8 those of both adapters are at most 64 together.",
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    default=5e-4,
    show_default=True,
    help="Peak learning rate.",
)
@click.option(
    "--examples-per-pass",
    type=_NUMBER,
    default=6,
    show_default=True,
    help="Examples in a forward pass.",
)
@click.option(
    "--passes-per-step",
    type=_NUMBER,
    default=2,
    show_default=True,
    help="Forward passes in an optimizer step.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random choices.")
@debug_option
def edits(
    out: Path, minutes: float | None, tokens: int | None, sets: tuple[Path, ...], **options: Any
) -> ExitCode:
    """Train the edit adapter: it writes lines again after an edit elsewhere in the file."""
    if minutes is None and tokens is None:
        raise CliError("give --minutes or --tokens: how long to train")
    from intarsia_research.training.edits.run import EditTrainingOptions, run_edit_training

    training = EditTrainingOptions(sets=sets, minutes=minutes, tokens=tokens, **options)
    with LoadBar(notices()) as bar:
        figures = run_edit_training(training, out, bar.update)
    for name, value in figures.items():
        click.echo(f"{name.replace('_', ' ')}: {value:.3f}")
    click.echo(f"the weights are in {out / 'adapter.safetensors'}")
    return ExitCode.OK
