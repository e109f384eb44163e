"""``corpus``: build a training corpus from permissively licensed packages, or show one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from rich.table import Table

from intarsia.cli.live_view import LoadBar
from intarsia.cli.terminal import json_option, notices, output, size
from intarsia.engine.cache.folder import cache_folder
from intarsia_research.corpus.manifest import Manifest, Tally, read_manifest
from intarsia_research.corpus.package_list import (
    DEFAULT_LIST,
    HELD_OUT_LIST,
    held_out_name,
    read_held_out,
    read_packages,
)
from intarsia_research.errors import CorpusFault
from intarsia_research.evaluation.case import Case

if TYPE_CHECKING:
    from intarsia_research.corpus.build import BuildOptions

_CHARS_AROUND_HOLE = 100


@click.group("corpus")
def command() -> None:
    """Build training corpora of source files of packages."""


@command.command("build")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="The folder to write the corpus to.",
)
@click.option(
    "--packages",
    type=click.Path(path_type=Path, dir_okay=False),
    default=DEFAULT_LIST,
    show_default=False,
    help="A list of packages, one per line: source name [version [sha256]].  [default: ours]",
)
@click.option(
    "--archives",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder of fetched archives.  [default: in your cache]",
)
@click.option(
    "--max-mb",
    metavar="N",
    type=click.FloatRange(min=0, min_open=True),
    default=150.0,
    help="At most N megabytes of text.",
)
@click.option("--language", "languages", multiple=True, help="Only this language; repeatable.")
@click.option(
    "--measured",
    "measured_files",
    type=click.Path(path_type=Path, dir_okay=False),
    multiple=True,
    help="A file of HumanEval problems to keep out of the corpus; repeatable. The holes of the "
    "built-in set are always kept out.",
)
@click.option(
    "--hold-out", multiple=True, help="A package to leave out, as ecosystem:name; repeatable."
)
@click.option("--seed", type=int, default=1, help="Seed of the choice.")
def build(out: Path, archives: Path | None, **options: Any) -> None:
    """Fetch packages, read their files and write a corpus with its manifest.

    Needs the network. No package is installed, run or unpacked. Fetched
    archives are kept: run the same command again to continue. The list that the corpus can be
    rebuilt from is written next to it.
    """
    from intarsia_research.corpus.build import build_corpus
    from intarsia_research.corpus.fetch import read_page

    request = CorpusRequest(**options)
    rows = read_packages(request.packages)
    build_options = _build_options(request)
    console = notices()
    with LoadBar(console) as bar:

        def show_progress(stage: str, fraction: float) -> None:
            bar.update(stage, fraction)
            if not console.is_interactive:
                console.print(f"{fraction:4.0%} {stage}")

        manifest = build_corpus(
            rows,
            out=out,
            cache=archives or cache_folder() / "corpus-archives",
            options=build_options,
            read=read_page,
            on_progress=show_progress,
        )
    for refused in manifest.refused:
        console.print(f"left out: {refused.source} {refused.name}: {refused.reason}")
    click.echo(f"{out}: {_summary(manifest)}")


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusRequest:
    """What a corpus is built from. The fields are the options' parameter names."""

    packages: Path
    max_mb: float
    languages: Sequence[str]
    measured_files: Sequence[Path]
    hold_out: Sequence[str]
    seed: int


def _build_options(request: CorpusRequest) -> "BuildOptions":
    from intarsia_research.corpus.build import BuildOptions
    from intarsia_research.corpus.contamination import MeasuredTexts

    return BuildOptions(
        seed=request.seed,
        max_mb=request.max_mb,
        languages=tuple(_language_id(name) for name in request.languages),
        held_out=read_held_out(HELD_OUT_LIST) | {held_out_name(name) for name in request.hold_out},
        measured=MeasuredTexts(_measured_texts(request.measured_files)),
        measured_sets=("builtin", *(file.name for file in request.measured_files)),
    )


def _summary(manifest: Manifest) -> str:
    return (
        f"{manifest.kept.num_files} files, {size(manifest.kept.num_bytes)}, "
        f"{len(manifest.by_language)} languages, {len(manifest.packages)} packages, "
        f"{len(manifest.refused)} left out"
    )


def _measured_texts(files: Sequence[Path]) -> Iterator[str]:
    """Yield whole problems with their tests, and the built-in holes with the text around them."""
    from intarsia_research.evaluation.sets.builtin import builtin_cases
    from intarsia_research.evaluation.sets.problem_file import read_problems

    for file in files:
        problems: dict[str, Case] = {}
        for case in read_problems(file, limit=None, seed=0):
            problems.setdefault(case.group, case)
        for problem in problems.values():
            yield f"{problem.filled(problem.truth)}\n{problem.test or ''}"
    for case in builtin_cases(languages=None, kinds=None, limit=None, seed=0):
        yield case.prefix[-_CHARS_AROUND_HOLE:] + case.truth + case.suffix[:_CHARS_AROUND_HOLE]


def _language_id(name: str) -> str:
    from intarsia.infill.languages import language_for_id
    from intarsia_research.corpus.filters import NOT_TAUGHT

    language = language_for_id(name)
    if language.id in NOT_TAUGHT:
        raise CorpusFault(f"no language {name!r} is taught: give an LSP language id such as python")
    return language.id


@command.command("show")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--packages", "with_packages", is_flag=True, help="List the packages, too.")
@json_option
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
