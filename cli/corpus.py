"""``intarsia corpus``: make a training corpus from permissively licensed packages, and show one."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from intarsia.cli.console import notices
from intarsia.cli.corpus_show import show
from intarsia.cli.load_bar import LoadBar
from intarsia.cli.plain_words import size
from intarsia.cli.switches import debug_option
from intarsia.corpus.faults import CorpusFault
from intarsia.corpus.package_list import (
    DEFAULT_LIST,
    HELD_OUT_LIST,
    held_out_name,
    read_held_out,
    read_packages,
)
from intarsia.engine.default_model.cache_folder import cache_folder
from intarsia.evaluation.case import Case

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
    from intarsia.corpus.build import BuildOptions, build_corpus
    from intarsia.corpus.contamination import MeasuredTexts
    from intarsia.corpus.fetch import read_page

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
    from intarsia.evaluation.sets.builtin import builtin_cases
    from intarsia.evaluation.sets.humaneval import read_humaneval

    for file in files:
        problems: dict[str, Case] = {}
        for case in read_humaneval(file, limit=None, seed=0):
            problems.setdefault(case.group, case)
        for problem in problems.values():
            yield f"{problem.filled(problem.truth)}\n{problem.test or ''}"
    for case in builtin_cases(languages=None, kinds=None, limit=None, seed=0):
        yield case.prefix[-_CHARS_ROUND_HOLE:] + case.truth + case.suffix[:_CHARS_ROUND_HOLE]


def _language_id(words: str) -> str:
    from intarsia.corpus.candidates import NOT_TAUGHT
    from intarsia.infill.languages import language_for_id

    language = language_for_id(words)
    if language.id in NOT_TAUGHT:
        raise CorpusFault(f"no language {words!r} is taught: name one as an editor does")
    return language.id
