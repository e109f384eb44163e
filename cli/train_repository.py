"""``intarsia train --repo PATH``: train a tuning for the user's own code, measure it and keep it.

The tuning learns from most files and is measured on the others. If it is not worse, it is kept in
the user's data folder.
"""

import asyncio
import hashlib
import shutil
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.live_view import LoadBar
from intarsia.cli.options import absolute_model
from intarsia.cli.terminal import notices
from intarsia.engine.cache.folder import cache_folder
from intarsia.engine.ipc.ownership import make_own_folder
from intarsia.engine.model_store.catalog import DEFAULT_MODEL, without_tuning
from intarsia.engine.service.process import spin_briefly
from intarsia.lsp.engine.repository_tuning import (
    ABOUT_NAME,
    Effect,
    KeptTuning,
    key_of,
    read_kept,
    tuning_folder,
)

if TYPE_CHECKING:
    from intarsia.training.effect import TuningEffect
    from intarsia.training.repository_files import RepositoryFiles, RepositoryOptions
    from intarsia.training.repository_run import TrainedTuning

_DIGEST_DIGITS = 12
_DEFAULT_MINUTES = 10.0


@click.command("train")
@click.option(
    "--repo",
    "root",
    metavar="PATH",
    type=click.Path(path_type=Path),
    required=True,
    help="The folder with your code.",
)
@click.option("--show", is_flag=True, help="Print the kept tuning as JSON, without training.")
@click.option("--remove", is_flag=True, help="Delete the kept tuning, without training.")
@click.option(
    "--model",
    default=DEFAULT_MODEL,
    callback=absolute_model,
    help="The model to adapt.",
)
@click.option(
    "--minutes",
    metavar="N",
    type=click.FloatRange(min=0, min_open=True),
    help=f"Train for N minutes, not counting the measuring.  [default: {_DEFAULT_MINUTES:g}]",
)
@click.option(
    "--tokens", metavar="N", type=click.IntRange(min=1), help="Stop after N trained positions."
)
@click.option(
    "--rank",
    type=click.IntRange(min=1, max=512),
    default=8,
    help="Rank of the low-rank matrices.",
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    default=3e-4,
    help="Peak learning rate.",
)
@click.option(
    "--holes-per-pass",
    type=click.IntRange(min=1),
    default=4,
    help="Holes in a forward pass.",
)
@click.option(
    "--holes-per-file",
    type=click.IntRange(min=1),
    default=40,
    help="Holes drawn from a file.",
)
@click.option(
    "--holes",
    "num_holes",
    metavar="N",
    type=click.IntRange(min=1),
    default=100,
    help="Measure on at most N holes of the held-out files.",
)
@click.option("--exclude", multiple=True, help="A glob of files to leave out; repeatable.")
@click.option(
    "--keep/--no-keep",
    "wish",
    default=None,
    help="Keep the tuning or not, whatever is measured.  "
    "[default: keep it unless exact match is worse; then ask]",
)
@click.option("--seed", type=int, default=0, help="Seed of the random choices.")
def command(root: Path, show: bool, remove: bool, **options: Any) -> ExitCode:
    """Adapt to your own code: a small tuning for the repository at PATH.

    It learns from most files, is measured on the others, and is kept in your data folder if it is
    not worse. Editors use it if their option repositoryTuning is on. Nothing leaves this machine.
    Ctrl-C ends the training early; the tuning is still measured. Exit code 1 if it is not kept.
    """
    if show and remove:
        raise click.UsageError("give --show or --remove, not both")
    spin_briefly()
    if show:
        return _show(root)
    if remove:
        return _remove(root)
    own = {name: options.pop(name) for name in ("num_holes", "exclude", "wish")}
    if options["minutes"] is None and options["tokens"] is None:
        options["minutes"] = _DEFAULT_MINUTES
    from intarsia.training.repository_files import RepositoryOptions

    return _adapt(RepositoryOptions(root=root, **options), **own)


def _show(root: Path) -> ExitCode:
    try:
        kept = read_kept(root)
    except msgspec.DecodeError as error:
        raise CliError(f"the tuning of {root} cannot be read ({error}): --remove it") from error
    if kept is None:
        notices().print(_nothing_kept(root))
        return ExitCode.NOTHING
    click.echo(msgspec.json.format(msgspec.json.encode(kept)).decode())
    return ExitCode.OK


def _remove(root: Path) -> ExitCode:
    if not remove_tuning(root):
        notices().print(_nothing_kept(root))
        return ExitCode.NOTHING
    click.echo(f"removed the tuning for {root.resolve()}: open windows use it until they reload")
    return ExitCode.OK


def _nothing_kept(root: Path) -> str:
    return f"no tuning is kept for {root.resolve()}: `intarsia train --repo {root}` makes one"


def _adapt(
    options: "RepositoryOptions", *, num_holes: int, exclude: Sequence[str], wish: bool | None
) -> ExitCode:
    root, model = options.root, options.model
    if without_tuning(model) != model or model.endswith("+none"):
        raise CliError(f"{model} already has a tuning: name the model without it")
    from intarsia.training.effect import draw_held_out, measure
    from intarsia.training.repository_files import RepositoryFault, read_repository

    try:
        files = read_repository(root, seed=options.seed, exclude=exclude)
        holes = draw_held_out(files.held_out, limit=num_holes, seed=options.seed)
    except RepositoryFault as error:
        raise CliError(str(error)) from error
    notices().print(
        f"{len(files.training)} files to learn from, {len(files.held_out)} held out with "
        f"{len(holes)} holes"
    )
    from intarsia.training.repository_run import train_on

    runs = cache_folder() / "repository-runs" / key_of(root)
    with LoadBar(notices()) as bar:
        trained = train_on(options, files, runs, bar.update)
        effect = asyncio.run(
            measure(holes, model=model, tuning=trained.path, on_progress=bar.update)
        )
    click.echo(in_words(effect))
    is_kept = is_to_be_kept(effect, wish)
    if is_kept:
        _keep(options, files, trained, effect)
    else:
        click.echo("not kept")
    shutil.rmtree(runs, ignore_errors=True)
    return ExitCode.OK if is_kept else ExitCode.NOTHING


def in_words(effect: "TuningEffect") -> str:
    """Return the effect in two lines: exact matches with their test, and similarities."""
    of, p = effect.num_holes, "< 0.001" if effect.p < 0.001 else f"{effect.p:.3f}"
    return (
        f"exact: {effect.exact_without} of {of} holes without the tuning, {effect.exact_with} with "
        f"it; {effect.only_without} only without, {effect.only_with} only with (McNemar's p {p})\n"
        f"similar: {100 * effect.similarity_without:.1f} % without, "
        f"{100 * effect.similarity_with:.1f} % with"
    )


def is_to_be_kept(effect: "TuningEffect", wish: bool | None) -> bool:
    """Return the user's wish; without one, whether the tuning is not worse. If it is, ask."""
    if wish is not None:
        return wish
    if not effect.is_worse:
        return True
    if sys.stdin.isatty() and sys.stderr.isatty():
        return click.confirm("Exact match is worse. Keep it anyway?", err=True)
    notices().print("exact match is worse: give --keep to keep it anyway")
    return False


def _keep(
    options: "RepositoryOptions",
    files: "RepositoryFiles",
    trained: "TrainedTuning",
    effect: "TuningEffect",
) -> None:
    def about(name: str) -> KeptTuning:
        return KeptTuning(
            root=str(options.root.resolve()),
            model=options.model,
            is_default_model=options.model == DEFAULT_MODEL,
            tuning=name,
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            intarsia=version("intarsia"),
            training_files=len(files.training),
            held_out_files=len(files.held_out),
            training_holes=trained.num_holes,
            training_holes_sha256=trained.holes_sha256,
            rank=options.rank,
            seed=options.seed,
            steps=trained.num_steps,
            seconds=round(trained.seconds, 1),
            effect=Effect(
                holes=effect.num_holes,
                exact_without=effect.exact_without / effect.num_holes,
                exact_with=effect.exact_with / effect.num_holes,
                mcnemar_p=effect.p,
                similarity_without=effect.similarity_without,
                similarity_with=effect.similarity_with,
            ),
        )

    path = keep_tuning(trained.path, options.root, about)
    click.echo(f"kept: {path}")
    click.echo("editors use it from their next start, if the option repositoryTuning is on")


def keep_tuning(weights: Path, root: Path, about: Callable[[str], KeptTuning]) -> Path:
    """Copy the weights and write their description, then delete an earlier tuning.

    ``about`` gets the file's name, which depends on the weights: a running engine identifies a
    tuning by its file name. Return the path of the copy.
    """
    folder = tuning_folder(root)
    if (weakness := make_own_folder(folder)) is not None:
        raise PermissionError(f"{weakness}: {weakness.remedy}")
    with weights.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    kept = about(f"tuning-{digest[:_DIGEST_DIGITS]}.safetensors")
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
    (folder / ABOUT_NAME).unlink(missing_ok=True)  # first: without it the tuning is unused
    shutil.rmtree(folder)
    return True
