"""``eval --set typing``: real files typed anew through the language server."""

import asyncio
from pathlib import Path

import click
import msgspec
from rich.table import Table

from intarsia.cli.errors import CliError
from intarsia.cli.live_view import LoadBar
from intarsia.cli.terminal import notices, output
from intarsia.engine.cache.folder import cache_folder
from intarsia_research.commands.eval.options import EvalRequest
from intarsia_research.commands.termination import termination_as_interrupt
from intarsia_research.evaluation.figure_text import NONE, titled_table
from intarsia_research.evaluation.sets.project_packages import PackageSource
from intarsia_research.replay.replay import Counts, Replay, replay
from intarsia_research.replay.sessions import draw_sessions

TYPING = "typing"
FILES_OF_A_LANGUAGE = 1
_MOST_REASONS = 6


def evaluate_typing(request: EvalRequest, to_save: Path | None, *, as_json: bool) -> None:
    """Type, then print the counts of each language. ``--limit`` is of files of a language."""
    if list(request.sets) != [TYPING] or request.repositories or request.clones:
        raise CliError("the set `typing` is measured alone: leave the other sets out")
    source = PackageSource(cache=cache_folder() / "evaluation")
    limit = request.limit or FILES_OF_A_LANGUAGE
    drawn = draw_sessions(source, seed=request.seed, num_files=limit)
    sessions = [it for it in drawn if not request.languages or it.language in request.languages]
    if not sessions:
        raise CliError("the set `typing` has no such language: leave --lang out")
    options = {} if request.model is None else {"model": request.model}
    with termination_as_interrupt(), LoadBar(notices()) as bar:

        def show(number: int) -> None:
            bar.update(f"typing {sessions[number].name}", number / len(sessions))

        result = asyncio.run(replay(sessions, options, show))
    found = msgspec.json.encode(
        {
            "languages": {name: _figures(it) for name, it in result.by_language.items()},
            "all": _figures(result.whole),
            "shown": result.shown,
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


def typing_table(result: Replay) -> Table:
    """Return a row for each language and one for all."""
    table = titled_table("typed anew: of shown texts, and of keys", "language")
    columns = ("keys", "keys\nsaved", "shown", "right", "harmful", "withdrawn", "silent,\nwanted")
    for name in columns:
        table.add_column(name, justify="right")
    for language, counts in [*sorted(result.by_language.items()), ("all", result.whole)]:
        table.add_row(
            language,
            f"{counts.keys_without:,}",
            _share(counts.keys_without - counts.keys, counts.keys_without),
            f"{counts.shown:,}",
            _share(counts.right, counts.shown),
            f"{counts.harmful.total()} ({_share(counts.harmful.total(), counts.shown)})",
            f"{counts.withdrawn} ({_share(counts.withdrawn, counts.shown)})",
            f"{counts.silent.total():,}",
        )
    return table


def _figures(counts: Counts) -> dict[str, object]:
    return {**msgspec.to_builtins(counts), "shown": counts.shown}


def _share(count: int, of: int) -> str:
    return f"{100 * count / of:.1f} %" if of else NONE
