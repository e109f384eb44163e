"""``train``: train weights on a corpus, on this machine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import click

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.live_view import LoadBar
from intarsia.cli.terminal import notices
from intarsia.engine.model_store.catalog import DEFAULT_MODEL
from intarsia.engine.service.process import spin_briefly

TrainedPart: TypeAlias = Literal["drafter", "tuning", "uniform"]
_F = TypeVar("_F", bound=Callable[..., Any])

_WEIGHTS_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_NUMBER = click.IntRange(min=1)


def _window(_: click.Context, __: click.Parameter, text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    numbers = [int(part) if part.isascii() and part.isdigit() else 0 for part in text.split("+")]
    if len(numbers) != 2 or 0 in numbers:
        raise click.BadParameter(f"{text!r} is no window: give tokens, such as 250+100")
    return numbers[0], numbers[1]


_OPTIONS = (
    click.option(
        "--corpus",
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        required=True,
        help="A folder written by `corpus build`.",
    ),
    click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        required=True,
        help="The run's folder; an interrupted run continues from it.",
    ),
    click.option("--model", default=DEFAULT_MODEL, help="The model to train."),
    click.option("--start", type=_WEIGHTS_FILE, help="Weights of an earlier run to start from."),
    click.option(
        "--minutes",
        metavar="N",
        type=click.FloatRange(min=0, min_open=True),
        help="Train for N minutes.",
    ),
    click.option("--tokens", metavar="N", type=_NUMBER, help="Stop after N trained positions."),
    click.option("--rate", type=click.FloatRange(min=0, min_open=True), help="Peak learning rate."),
    click.option(
        "--holes-per-pass",
        type=_NUMBER,
        default=4,
        help="Holes in a forward pass.",
    ),
    click.option(
        "--passes-per-step",
        type=_NUMBER,
        default=1,
        help="Forward passes in an optimizer step.",
    ),
    click.option(
        "--holes-per-file",
        type=_NUMBER,
        default=6,
        help="Holes drawn from a file.",
    ),
    click.option(
        "--max-holes",
        metavar="N",
        type=_NUMBER,
        help="Draw about N holes, in files drawn at random.  [default: in all files]",
    ),
    click.option(
        "--project-share",
        type=click.FloatRange(min=0, max=1),
        default=0.0,
        help="How often a hole reads code of other files, as a fill in an opened folder does; "
        "where there is none the hole has none.",
    ),
    click.option(
        "--window",
        metavar="BEFORE+AFTER",
        callback=_window,
        help="Tokens of the file around a hole.  [default: 144+64]",
    ),
    click.option("--seed", type=int, default=0, help="Seed of the random choices."),
)


def _corpus_options(command: _F) -> _F:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command("drafter", short_help="The network that drafts tokens, from a corpus.")
@click.option("--tuning", type=_WEIGHTS_FILE, help="A tuning of the backbone to train it on.")
@_corpus_options
def drafter(tuning: Path | None, **options: Any) -> ExitCode:
    """Train the small network that drafts what the backbone writes next."""
    return _train("drafter", tuning=tuning, rank=None, strength=1.0, **options)


_RANK = click.option(
    "--rank", type=click.IntRange(min=1, max=512), help="Rank of the low-rank matrices."
)


@click.command("tuning", short_help="The backbone itself, from a corpus.")
@click.option(
    "--strength",
    type=click.FloatRange(min=0, max=1, min_open=True),
    default=1.0,
    help="The share to write of what the run changes; run the command again to write another.",
)
@_RANK
@_corpus_options
def tuning(**options: Any) -> ExitCode:
    """Train low-rank changes to the backbone: it fills holes better and ends where they end."""
    return _train("tuning", tuning=None, **options)


@click.command("uniform", short_help="Canvas rows that denoise, for a study.")
@_RANK
@_corpus_options
def uniform(**options: Any) -> ExitCode:
    """Train low-rank changes to canvas rows, which then denoise from uniform noise."""
    return _train("uniform", tuning=None, strength=1.0, **options)


def _train(
    part: TrainedPart, *, out: Path, minutes: float | None, tokens: int | None, **options: Any
) -> ExitCode:
    if minutes is None and tokens is None:
        raise CliError("give --minutes or --tokens: how long to train")
    from intarsia_research.training.run import TrainingOptions, run_training

    training = TrainingOptions(what=part, minutes=minutes, tokens=tokens, **options)
    with LoadBar(notices()) as bar:
        figures = run_training(training, out, bar.update)
    if not figures:
        click.echo("interrupted: the same command goes on")
    for name, value in figures.items():
        click.echo(f"{name.replace('_', ' ')}: {value:.3f}")
    click.echo(f"the weights are in {out / 'weights.safetensors'}")
    return ExitCode.OK


@click.group("train")
def command() -> None:
    """Train weights on this machine; nothing leaves it.

    \b
    train drafter --corpus F --out R    the drafter of a model
    train tuning --corpus F --out R     a model's backbone itself
    train uniform --corpus F --out R    canvas rows for `uniform fill`

    Ctrl-C ends a run cleanly; the same command continues it.
    """
    spin_briefly()


command.add_command(drafter)
command.add_command(tuning)
command.add_command(uniform)
