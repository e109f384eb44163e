"""``intarsia train --repo PATH``: a tuning for the user's own code, measured before it is kept."""

import asyncio
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import click
import msgspec

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.live_view import LoadBar
from intarsia.cli.options import absolute_model, debug_option
from intarsia.cli.terminal import notices, output
from intarsia.engine.model_store.catalog import DEFAULT_MODEL
from intarsia.engine.model_store.model_name import without_tuning

if TYPE_CHECKING:
    from intarsia.lsp.engine.repository_tuning import KeptTuning
    from intarsia.research.corpus.repository import RepositoryFiles
    from intarsia.research.evaluation.compare import Comparison
    from intarsia.research.training.repository_run import RepositoryOptions, TrainedTuning
import hashlib
import shutil
from collections.abc import Callable

from intarsia.lsp.engine.repository_tuning import ABOUT_NAME, KeptTuning, tuning_folder

_DIGITS = 12


def keep_tuning(weights: Path, root: Path, about: Callable[[str], KeptTuning]) -> Path:
    """Copy the weights and say what they are; an earlier tuning is deleted last.

    ``about`` gets the file's name, which is new for new weights: a running engine that holds the
    former ones would take a file of the same name for the same model.
    """
    folder = tuning_folder(root)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with weights.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    kept = about(f"tuning-{digest[:_DIGITS]}.safetensors")
    path = folder / kept.tuning
    partial = folder / "tuning.partial"
    shutil.copyfile(weights, partial)
    partial.replace(path)
    partial = folder / f"{ABOUT_NAME}.partial"
    partial.write_bytes(msgspec.json.format(msgspec.json.encode(kept)))
    partial.replace(folder / ABOUT_NAME)
    for other in folder.glob("tuning-*.safetensors"):
        if other != path:
            other.unlink()
    return path


def remove_tuning(root: Path) -> bool:
    """Delete a repository's tuning; return whether there was one."""
    folder = tuning_folder(root)
    if not folder.is_dir():
        return False
    (folder / ABOUT_NAME).unlink(missing_ok=True)  # first: without it nothing is in use
    shutil.rmtree(folder)
    return True


_DEFAULT_MINUTES = 10.0


@click.command("repo", short_help="Your own code; `--repo PATH` is short for it.")
@click.argument("root", metavar="PATH", type=click.Path(path_type=Path))
@click.option("--show", is_flag=True, help="Say what is kept for it, as JSON; nothing is trained.")
@click.option("--remove", is_flag=True, help="Delete what is kept for it; nothing is trained.")
@click.option("--model", default=DEFAULT_MODEL, show_default=True, callback=absolute_model)
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    help=f"Train so long; measuring comes on top.  [default: {_DEFAULT_MINUTES:g}]",
)
@click.option("--tokens", type=click.IntRange(min=1), help="Learn at so many places.")
@click.option(
    "--rank", type=click.IntRange(min=1, max=512), default=8, show_default=True, help="Its size."
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    default=3e-4,
    show_default=True,
    help="Peak learning rate.",
)
@click.option(
    "--holes-per-pass", type=click.IntRange(min=1), default=4, show_default=True, help="At once."
)
@click.option(
    "--holes-per-file", type=click.IntRange(min=1), default=40, show_default=True, help="Drawn."
)
@click.option(
    "--holes",
    "num_holes",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Measure on so many of the held-out files.",
)
@click.option("--exclude", multiple=True, help="Files to leave out, besides secrets; repeatable.")
@click.option(
    "--keep/--no-keep",
    "wish",
    default=None,
    help="Whatever the figures say.  [default: keep it unless exact match is worse; then ask]",
)
@click.option("--seed", type=int, default=0, show_default=True)
@debug_option
def repo(root: Path, show: bool, remove: bool, **options: Any) -> ExitCode:
    """Adapt to your own code: a small tuning for the repository at PATH.

    It learns from most files, is measured on the others, and is kept (in your data folder) if it
    is no worse. Editors use it where the option repositoryTuning is on. Nothing leaves this
    machine. Ctrl-C ends the training early; what was learnt is measured all the same.
    Exit code 1 where nothing is kept.
    """
    if show and remove:
        raise click.UsageError("--show and --remove: give one of them")
    if show:
        return _show(root)
    if remove:
        return _remove(root)
    return _adapt(root, **options)


def _show(root: Path) -> ExitCode:
    from intarsia.lsp.engine.repository_tuning import read_kept

    try:
        kept = read_kept(root)
    except msgspec.DecodeError as error:
        raise CliError(f"what is kept for {root} cannot be read ({error}): --remove it") from error
    if kept is None:
        notices().print(_nothing_kept(root))
        return ExitCode.NOTHING
    click.echo(msgspec.json.format(msgspec.json.encode(kept)).decode())
    return ExitCode.OK


def _remove(root: Path) -> ExitCode:
    from intarsia.cli.train_repository import remove_tuning

    if not remove_tuning(root):
        notices().print(_nothing_kept(root))
        return ExitCode.NOTHING
    click.echo(f"removed the tuning for {root.resolve()}: open windows forget it when they reload")
    return ExitCode.OK


def _nothing_kept(root: Path) -> str:
    return f"no tuning is kept for {root.resolve()}: `intarsia train --repo {root}` makes one"


def _adapt(
    root: Path,
    *,
    model: str,
    minutes: float | None,
    tokens: int | None,
    num_holes: int,
    exclude: Sequence[str],
    wish: bool | None,
    seed: int,
    **options: Any,
) -> ExitCode:
    if without_tuning(model) != model or model.endswith("+none"):
        raise CliError(f"{model} has a tuning already: name the model without it")
    from intarsia.research.training.repository_effect import held_out_cases, measure

    files = _read(root, exclude, seed)
    cases = held_out_cases(root, files, limit=num_holes, seed=seed)
    notices().print(
        f"{len(files.training)} files to learn from, {len(files.held_out)} held out with "
        f"{len(cases)} holes"
    )
    from intarsia.research.training.repository_run import RepositoryOptions, forget_run, train_on

    order = RepositoryOptions(
        root=root,
        model=model,
        minutes=_DEFAULT_MINUTES if minutes is None and tokens is None else minutes,
        tokens=tokens,
        seed=seed,
        **options,
    )
    with LoadBar(notices()) as bar:
        trained = train_on(order, files, bar.update)
        comparison = asyncio.run(
            measure(cases, model=model, tuning=trained.path, on_progress=bar.update)
        )
    _show_effect(comparison)
    is_kept = is_to_be_kept(comparison, wish)
    if is_kept:
        _keep(order, files, trained, comparison)
    else:
        click.echo("not kept")
    forget_run(root)
    return ExitCode.OK if is_kept else ExitCode.NOTHING


def _read(root: Path, exclude: Sequence[str], seed: int) -> "RepositoryFiles":
    from intarsia.lsp.documents.exclusion import SECRETS, excluding_pattern
    from intarsia.research.corpus.repository import read_repository

    def is_excluded(path: PurePath) -> bool:
        return excluding_pattern(path, (*SECRETS, *exclude)) is not None

    return read_repository(root, seed=seed, is_excluded=is_excluded)


def _show_effect(comparison: "Comparison") -> None:
    from intarsia.research.evaluation.report_comparison import comparison_table
    from intarsia.research.training.repository_effect import WITH, WITHOUT

    timeless = msgspec.structs.replace(comparison, ms=None)  # the sides did not take turns
    output().print(comparison_table(timeless, WITHOUT, WITH))


def is_to_be_kept(comparison: "Comparison", wish: bool | None) -> bool:
    """Go by the user's wish, then by the figures, then by asking, where there is somebody."""
    if wish is not None:
        return wish
    if comparison.exact.second >= comparison.exact.first:
        return True
    if sys.stdin.isatty() and sys.stderr.isatty():
        return click.confirm("Exact match is worse. Keep it all the same?", err=True)
    notices().print("exact match is worse: --keep would keep it all the same")
    return False


def _keep(
    order: "RepositoryOptions",
    files: "RepositoryFiles",
    trained: "TrainedTuning",
    comparison: "Comparison",
) -> None:
    from intarsia.cli.train_repository import keep_tuning
    from intarsia.lsp.engine.repository_tuning import Effect, KeptTuning

    exact, similarity = comparison.exact, comparison.similarity

    def about(name: str) -> "KeptTuning":
        return KeptTuning(
            root=str(order.root.resolve()),
            model=order.model,
            is_default_model=order.model == DEFAULT_MODEL,
            tuning=name,
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            intarsia=version("intarsia"),
            training_files=len(files.training),
            held_out_files=len(files.held_out),
            training_holes=trained.num_holes,
            training_holes_sha256=trained.holes_sha256,
            rank=order.rank,
            seed=order.seed,
            steps=trained.num_steps,
            seconds=round(trained.seconds, 1),
            effect=Effect(
                holes=exact.of,
                exact_without=exact.first,
                exact_with=exact.second,
                exact_difference_low=exact.difference.low,
                exact_difference_high=exact.difference.high,
                mcnemar_p=exact.p,
                similarity_without=similarity.first,
                similarity_with=similarity.second,
            ),
        )

    path = keep_tuning(trained.path, order.root, about)
    click.echo(f"kept: {path}")
    click.echo("editors use it where the option repositoryTuning is on, from their next start")
