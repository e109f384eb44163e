"""``intarsia corpus``: make a training corpus from permissively licensed packages, and show one."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import msgspec
from rich.table import Table

from intarsia.cli.live_view import LoadBar
from intarsia.cli.options import debug_option, json_option
from intarsia.cli.terminal import notices, output, size
from intarsia.engine.cache.folder import cache_folder
from intarsia.research.corpus.manifest import Manifest, Tally, read_manifest
from intarsia.research.corpus.package_list import (
    DEFAULT_LIST,
    HELD_OUT_LIST,
    held_out_name,
    read_held_out,
    read_packages,
)
from intarsia.research.errors import CorpusFault
from intarsia.research.evaluation.case import Case


@click.command("show")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--packages", "with_packages", is_flag=True, help="List the packages too.")
@json_option
@debug_option
def show(folder: Path, with_packages: bool, as_json: bool) -> None:
    """Show a corpus: files and bytes by language and licence, and what was left out."""
    manifest = read_manifest(folder)
    if as_json:
        click.echo(msgspec.json.encode(manifest).decode())
        return
    console = output()
    for title, tallies in (
        ("language", manifest.by_language),
        ("licence", manifest.by_licence),
        ("left out", manifest.dropped),
        *([("package", _packages(manifest))] if with_packages else []),
    ):
        console.print(_table(title, tallies))
        console.print()
    click.echo(
        f"{manifest.kept.num_files} files, {size(manifest.kept.num_bytes)}, "
        f"{len(manifest.packages)} packages read, {len(manifest.refused)} left out, "
        f"seed {manifest.seed}, sha256 {manifest.sha256}"
    )


def _packages(manifest: Manifest) -> dict[str, Tally]:
    return {
        f"{package.source} {package.name} {package.version} ({package.licence})": package.kept
        for package in manifest.packages
    }


def _table(title: str, tallies: dict[str, Tally]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(title, overflow="fold")
    table.add_column("files", justify="right")
    table.add_column("size", justify="right")
    table.add_column("share", justify="right")
    whole = sum(tally.num_bytes for tally in tallies.values()) or 1
    for name, tally in tallies.items():
        share = f"{tally.num_bytes / whole:.1%}"
        table.add_row(name, str(tally.num_files), size(tally.num_bytes), share)
    return table


_CHARS_ROUND_HOLE = 100


@click.group("corpus")
@debug_option
def command() -> None:
    """Make what a model is trained on: source files of permissively licensed packages."""


command.add_command(show)


@command.command("build")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="The folder that the corpus is written to.",
)
@click.option(
    "--packages",
    type=click.Path(path_type=Path, dir_okay=False),
    default=DEFAULT_LIST,
    help="A list of packages, one a line: source name [version [sha256]].  [default: our own]",
)
@click.option(
    "--archives",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where fetched archives are kept.  [default: in your cache]",
)
@click.option(
    "--max-mb",
    type=click.FloatRange(min=0, min_open=True),
    default=150.0,
    show_default=True,
    help="How much text at most.",
)
@click.option("--language", "languages", multiple=True, help="Only this language; repeatable.")
@click.option(
    "--measured",
    "measured_files",
    type=click.Path(path_type=Path, dir_okay=False),
    multiple=True,
    help="A file of HumanEval's problems that must not be in the corpus; repeatable. The holes "
    "of the built-in set never are.",
)
@click.option(
    "--hold-out", multiple=True, help="ecosystem:name of a package to leave out; repeatable."
)
@click.option("--seed", type=int, default=1, show_default=True)
@debug_option
def build(
    out: Path,
    packages: Path,
    archives: Path | None,
    max_mb: float,
    languages: Sequence[str],
    measured_files: Sequence[Path],
    hold_out: Sequence[str],
    seed: int,
) -> None:
    """Fetch packages, read their files and write a corpus with its manifest.

    Needs the network and the extra `train`. Nothing of a package is installed, run or unpacked.
    What was fetched is kept: run it again to go on. The list that the corpus is rebuilt from is
    written beside it.
    """
    from intarsia.research.corpus.build import BuildOptions, build_corpus
    from intarsia.research.corpus.contamination import MeasuredTexts
    from intarsia.research.corpus.fetch import read_page

    rows = read_packages(packages)
    held_out = read_held_out(HELD_OUT_LIST) | {held_out_name(words) for words in hold_out}
    options = BuildOptions(
        seed=seed,
        max_mb=max_mb,
        languages=tuple(_language_id(words) for words in languages),
        held_out=held_out,
        measured=MeasuredTexts(_measured_texts(measured_files)),
        measured_sets=("builtin", *(file.name for file in measured_files)),
    )
    console = notices()
    with LoadBar(console) as bar:

        def tell(stage: str, fraction: float) -> None:
            bar.update(stage, fraction)
            if not console.is_interactive:
                console.print(f"{fraction:4.0%} {stage}")

        manifest = build_corpus(
            rows,
            out=out,
            cache=archives or cache_folder() / "corpus-archives",
            options=options,
            read=read_page,
            on_progress=tell,
        )
    for refused in manifest.refused:
        console.print(f"left out: {refused.source} {refused.name}: {refused.reason}")
    click.echo(
        f"{out}: {manifest.kept.num_files} files, {size(manifest.kept.num_bytes)}, "
        f"{len(manifest.by_language)} languages, {len(manifest.packages)} packages, "
        f"{len(manifest.refused)} left out"
    )


def _measured_texts(files: Sequence[Path]) -> Iterator[str]:
    """Return whole problems with their tests, and the built-in holes with what is round them."""
    from intarsia.research.evaluation.sets.builtin import builtin_cases
    from intarsia.research.evaluation.sets.humaneval import read_humaneval

    for file in files:
        problems: dict[str, Case] = {}
        for case in read_humaneval(file, limit=None, seed=0):
            problems.setdefault(case.group, case)
        for problem in problems.values():
            yield f"{problem.filled(problem.truth)}\n{problem.test or ''}"
    for case in builtin_cases(languages=None, kinds=None, limit=None, seed=0):
        yield case.prefix[-_CHARS_ROUND_HOLE:] + case.truth + case.suffix[:_CHARS_ROUND_HOLE]


def _language_id(words: str) -> str:
    from intarsia.infill.languages import language_for_id
    from intarsia.research.corpus.candidates import NOT_TAUGHT

    language = language_for_id(words)
    if language.id in NOT_TAUGHT:
        raise CorpusFault(f"no language {words!r} is taught: name one as an editor does")
    return language.id
