"""``corpus edits``: make training data of edits from the histories of git clones."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from rich.table import Table

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.live_view import LoadBar
from intarsia.cli.switches import debug_option
from intarsia.cli.terminal import notices, output


@click.command("edits")
@click.option(
    "--clone",
    "clones",
    metavar="PATH",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A clone with its history; repeatable.",
)
@click.option(
    "--out",
    metavar="SET.jsonl.gz",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write.",
)
@click.option(
    "--max-edits",
    metavar="N",
    type=click.IntRange(min=1),
    default=9_000,
    show_default=True,
    help="At most N files of commits that change several places.",
)
@click.option(
    "--max-controls",
    metavar="N",
    type=click.IntRange(min=0),
    default=4_500,
    show_default=True,
    help="At most N files of commits that change one place.",
)
@click.option(
    "--commits",
    "num_commits",
    metavar="N",
    type=click.IntRange(min=1),
    default=4_500,
    show_default=True,
    help="Search the newest N commits of each clone.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the choice.")
@debug_option
def edits(
    clones: Sequence[Path],
    out: Path,
    max_edits: int,
    max_controls: int,
    num_commits: int,
    seed: int,
) -> None:
    """Find edits of several places of a file, and controls, in the histories of clones.

    Clones are only read. Refused are repositories that edits are evaluated on, and those without a
    permissive licence.
    """
    from intarsia_research.corpus.edits.build_set import EditSetOptions, build_edit_set, tally
    from intarsia_research.edits.edit_set import write_edit_set

    options = EditSetOptions(
        max_edits=max_edits, max_controls=max_controls, num_commits=num_commits, seed=seed
    )
    console = notices()
    with LoadBar(console) as bar:

        def show_progress(stage: str, fraction: float) -> None:
            bar.update(stage, fraction)
            if not console.is_interactive:
                console.print(f"{fraction:4.0%} {stage}")

        cases = build_edit_set(clones, options, on_progress=show_progress)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_edit_set(out, cases)
    except OSError as error:
        raise CliError(
            f"{out} was not written: {error.strerror}; choose another place", ExitCode.NOT_WRITTEN
        ) from error
    _show(tally(cases))
    num_edits = sum(not case.is_control for case in cases)
    click.echo(f"{out}: {num_edits:,} edits, {len(cases) - num_edits:,} controls, seed {seed}")


def _show(tallies: Mapping[str, Mapping[str, int]]) -> None:
    for title, numbers in tallies.items():
        table = Table(box=None, pad_edge=False)
        table.add_column(title, overflow="fold")
        table.add_column("cases", justify="right")
        for name, number in numbers.items():
            table.add_row(name, f"{number:,}")
        output().print(table)
        output().print()
