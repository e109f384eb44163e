"""``eval --set typing``: real files typed anew through the language server."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import msgspec
from rich.table import Table

from intarsia.cli.errors import CliError
from intarsia.cli.live_view import LoadBar
from intarsia.cli.terminal import notices, output
from intarsia.engine.cache.folder import cache_folder
from intarsia_research.commands.eval.context import NO_CONTEXT
from intarsia_research.commands.eval.options import EvalRequest
from intarsia_research.commands.termination import termination_as_interrupt
from intarsia_research.evaluation.figure_text import (
    NONE,
    percent,
    percent_between,
    percent_change,
    titled_table,
)
from intarsia_research.evaluation.record import read_saved
from intarsia_research.evaluation.sets.project_packages import PackageSource
from intarsia_research.replay.replay import (
    Counts,
    Replay,
    keys_saved,
    more_keys_saved,
    replay,
    total,
)
from intarsia_research.replay.sessions import Half, draw_sessions

RUN_VERSION = 1
TYPING: Mapping[str, Half] = {"typing": "development", "typing-held-out": "held-out"}
FILES_OF_A_PACKAGE = 1
_MOST_REASONS = 6


def evaluate_typing(request: EvalRequest, to_save: Path | None, *, as_json: bool) -> None:
    """Type, then print the counts of each language.

    ``--limit`` is of files of a language in a package.
    """
    name, *others = request.sets
    if others or request.repositories or request.clones:
        raise CliError("the sets `typing` are measured alone: leave the other sets out")
    if {*request.contexts} - {NO_CONTEXT, "all"} or len(request.contexts) > 1:
        raise CliError("what is typed has all kinds of context or none: give one --context")
    reads_project = "all" in request.contexts
    source = PackageSource(cache=cache_folder() / "evaluation")
    limit = request.limit or FILES_OF_A_PACKAGE
    drawn = draw_sessions(source, TYPING[name], seed=request.seed, num_files=limit)
    sessions = [it for it in drawn if not request.languages or it.language in request.languages]
    if not sessions:
        raise CliError(f"the set `{name}` has no such language: leave --lang out")
    options = {} if request.model is None else {"model": request.model}
    with termination_as_interrupt(), LoadBar(notices()) as bar:

        def show(number: int) -> None:
            bar.update(f"typing {sessions[number].name}", number / len(sessions))

        result = asyncio.run(replay(sessions, options, show, reads_project=reads_project))
    found = msgspec.json.encode(
        {
            "version": RUN_VERSION,
            "of": "typing",
            "languages": {
                language: _figures([*files.values()]) for language, files in result.files.items()
            },
            "files": result.files,
            "all": _figures(result.all_files),
            "shown": result.shown,
            "silences": result.silences,
        }
    )
    if to_save:
        to_save.write_bytes(msgspec.json.format(found))
    if as_json:
        click.echo(found)
    else:
        output().print(typing_table(result))
        reasons = result.whole.silent.most_common(_MOST_REASONS)
        output().print("silent: " + "; ".join(f"{name} {count}" for name, count in reasons))


class _SavedFile(msgspec.Struct, frozen=True):
    keys: int
    keys_without: int

    def as_counts(self) -> Counts:
        return Counts(keys=self.keys, keys_without=self.keys_without)


class _Saved(msgspec.Struct, frozen=True):
    files: dict[str, dict[str, _SavedFile]]  # by language and name


def report_typing_comparison(paths: tuple[Path, Path], *, as_json: bool) -> None:
    """Print how many more keys the second run saved in the files that both have typed."""
    first, second = (
        read_saved(path, _Saved, version=RUN_VERSION, of="typing").files for path in paths
    )
    pairs = {
        language: [
            (file.as_counts(), other.as_counts())
            for name, file in files.items()
            if (other := second.get(language, {}).get(name)) is not None
            and other.keys_without == file.keys_without
        ]
        for language, files in sorted(first.items())
    }
    rows = {language: found for language, found in pairs.items() if found}
    if not rows:
        raise CliError("the two runs have typed no common file")
    rows["all"] = [pair for found in rows.values() for pair in found]
    table = titled_table("keys saved, in the same files", "language")
    for name in ("files", "first", "second", "difference (95 %)"):
        table.add_column(name, justify="right")
    figures = {}
    for name, found in rows.items():
        before, after = ([pair[side] for pair in found] for side in (0, 1))
        more = figures[name] = more_keys_saved(found)
        table.add_row(
            name,
            f"{len(found)}",
            percent(keys_saved(before)),
            percent(keys_saved(after)),
            NONE if more is None else percent_change(more),
        )
    if as_json:
        click.echo(msgspec.json.encode(figures))
    else:
        output().print(table)


def typing_table(result: Replay) -> Table:
    """Return a row for each language and one for all."""
    table = titled_table("typed anew: of shown texts, and of keys", "language")
    columns = ("files", "keys", "keys\nsaved", "95 %", "shown", "right", "harmful", "withdrawn")
    for name in (*columns, "silent,\nwanted"):
        table.add_column(name, justify="right")
    rows = [(language, [*files.values()]) for language, files in sorted(result.files.items())]
    for name, files in [*rows, ("all", result.all_files)]:
        counts, saved = total(files), keys_saved(files)
        table.add_row(
            name,
            f"{len(files)}",
            f"{counts.keys_without:,}",
            percent(saved),
            percent_between(saved),
            f"{counts.shown:,}",
            _share(counts.right, counts.shown),
            f"{counts.harmful.total()} ({_share(counts.harmful.total(), counts.shown)})",
            f"{counts.withdrawn} ({_share(counts.withdrawn, counts.shown)})",
            f"{counts.silent.total():,}",
        )
    return table


def _figures(files: Sequence[Counts]) -> dict[str, object]:
    counts = total(files)
    return {
        **msgspec.to_builtins(counts),
        "shown": counts.shown,
        "keys_saved": msgspec.to_builtins(keys_saved(files)),
    }


def _share(count: int, of: int) -> str:
    return f"{100 * count / of:.1f} %" if of else NONE
