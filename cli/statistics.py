"""``intarsia status --stats``: the counts that the language servers of this user have kept."""

from collections.abc import Iterable

import click
import msgspec
from rich.table import Table

from intarsia.cli.terminal import output, two_columns
from intarsia.lsp.statistics.counts import Counts, LanguageCounts
from intarsia.lsp.statistics.file import KeptCounts, read_counts, statistics_file


def show_statistics(*, as_json: bool) -> None:
    """Print the counts. What happened in the last minute may not be in them yet."""
    path = statistics_file()
    kept = read_counts(path)
    if as_json:
        click.echo(msgspec.json.encode(kept))
        return
    console = output()
    if kept.counts.is_empty:
        console.print("Nothing was counted yet (or the setting `statistics` is off).")
        return
    console.print(_by_language(kept))
    if kept.counts.not_shown:
        console.print("\nRequests without a suggestion, by reason:")
        console.print(two_columns(_reasons(kept.counts)))
    console.print(f"\nCounts only, on this machine: {path}", soft_wrap=True)


def _by_language(kept: KeptCounts) -> Table:
    table = Table(title=f"Suggestions since {kept.since}", title_justify="left", box=None)
    table.add_column("")
    for name in ("shown", "accepted", "", "kept 30 s", ""):
        table.add_column(name, justify="right")
    languages = sorted(kept.counts.languages.items(), key=lambda it: (-it[1].shown, it[0]))
    for language, counts in languages:
        table.add_row(language, *_cells(counts))
    if len(languages) > 1:
        table.add_row("all", *_cells(kept.counts.total))
    return table


def _cells(counts: LanguageCounts) -> Iterable[str]:
    yield f"{counts.shown:,}"
    yield f"{counts.accepted:,}"
    yield _share(counts.accepted, counts.shown)
    yield f"{counts.kept:,}"
    yield _share(counts.kept, counts.ended)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else ""


def _reasons(counts: Counts) -> Iterable[tuple[str, str]]:
    for kind, number in sorted(counts.not_shown.items(), key=lambda it: (-it[1], it[0])):
        yield kind.replace("_", " "), f"{number:,}"
