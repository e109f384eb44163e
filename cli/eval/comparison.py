"""``intarsia eval --compare``: two sides, hole by hole."""

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from intarsia.cli.eval.reports import load
from intarsia.cli.terminal import output
from intarsia.research.evaluation.compare import compare, rows_of
from intarsia.research.evaluation.record import Run, SystemInfo
from intarsia.research.evaluation.report_comparison import comparison_table, discordant_table


def report_comparison(
    paths: tuple[Path, Path], contestants: Sequence[str], *, as_json: bool
) -> None:
    """Print it. ``contestants``: one for both sides, or one for each; none: the first of each."""
    names = [*contestants, *contestants] if len(contestants) == 1 else [*contestants]
    sides = [
        _Side(path, load(path), name)
        for path, name in zip(paths, names or (None, None), strict=True)
    ]
    first, second = sides
    comparison = compare(
        rows_of(first.run, first.contestant), rows_of(second.run, second.contestant)
    )
    if as_json:
        told = {"first": first.described(), "second": second.described()}
        click.echo(msgspec.json.encode(told | msgspec.to_builtins(comparison)))
        return
    labels = _labels(first, second)
    console = output()
    console.print(comparison_table(comparison, *labels))
    if comparison.discordant:
        console.print(discordant_table(comparison, *labels))
    for side, label in zip(sides, labels, strict=True):
        console.print(f"{label}: {side.in_words()}", style="dim")


class _Side:
    """One run, seen by one contestant."""

    def __init__(self, path: Path, run: Run, contestant: str | None) -> None:
        self.path = path
        self.run = run
        self.contestant = contestant

    @property
    def info(self) -> SystemInfo | None:
        infos = self.run.contestants
        if self.contestant is None:
            return infos[0] if infos else None
        return next((info for info in infos if info.name == self.contestant), None)

    @property
    def name(self) -> str:
        return self.info.name if self.info else "nobody"

    def described(self) -> dict[str, object]:
        return {
            "file": str(self.path),
            "started": self.run.started,
            "machine": self.run.machine,
            "contestant": self.info,
        }

    def in_words(self) -> str:
        way = f"{self.info.way}, {self.info.model or 'no model'}, " if self.info else ""
        return f"{self.name} of {self.path}, {way}{self.run.started}, {self.run.machine}"


def _labels(first: _Side, second: _Side) -> tuple[str, str]:
    """Return what tells the sides apart in a column's head."""
    if first.name != second.name:
        return first.name, second.name
    if first.path.stem != second.path.stem:
        return first.path.stem, second.path.stem
    return f"{first.name} (1)", f"{second.name} (2)"
