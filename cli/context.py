"""``intarsia context``: show exactly what the model would see at a place of a file, and why.

It is the same plan that a suggestion uses, and the same choice of code of other files.
"""

import asyncio
import time
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.text import Text

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.fill.positions import Position, offset_of
from intarsia.cli.fill.source_file import SourceFile, read_source
from intarsia.cli.fill.where import read_position
from intarsia.cli.options import language_option
from intarsia.cli.project import FileProject, open_project
from intarsia.cli.status import ask_status
from intarsia.cli.terminal import json_option, output
from intarsia.engine.ipc.client import NoEngine
from intarsia.engine.ipc.errors import EngineError
from intarsia.engine.ipc.printable import displayable
from intarsia.infill.canvas import CHARS_PER_TOKEN
from intarsia.infill.filling.described_body import asking_for_body
from intarsia.infill.filling.plan import FillOptions, FillPlan, plan_at_cursor
from intarsia.infill.languages import Language, language_for_path
from intarsia.infill.suggestion import NoSuggestion
from intarsia.workspace.context.chunk import Chunk, ChunkKind

ESTIMATED_TOKENS_PER_S = 600.0
"""The default model on two cores (research/results.md): about 1.7 s for 1,000 tokens."""


def reading_speed() -> float | None:
    """Return the tokens a second that the running engine has measured; none is started for it."""
    try:
        return asyncio.run(ask_status()).prefill_tokens_per_s
    except (NoEngine, EngineError):
        return None


class SeenChunk(msgspec.Struct, frozen=True, kw_only=True):
    """A passage of another file. ``tokens`` are estimated, with its path."""

    path: str
    kind: ChunkKind
    reason: str
    text: str
    tokens: int


class SeenContext(msgspec.Struct, frozen=True, kw_only=True):
    """The model's view, in the order of reading up to ``given``, and what it costs.

    ``seconds`` is the time to read everything once; what was read before costs nothing.
    """

    file: str
    repository: str | None
    path: str
    chunks: tuple[SeenChunk, ...]
    suffix: str
    prefix: str
    given: str
    question: str | None  # what a model that follows instructions is asked instead
    project_tokens: int
    window_tokens: int
    seconds: float
    tokens_per_s: float
    is_speed_measured: bool
    num_indexed: int
    is_index_complete: bool
    index_ms: float
    choose_ms: float


def plan_of(source: SourceFile, language: Language, cursor: int) -> FillPlan:
    """Return the plan of a suggestion at the cursor. Raise CliError if there would be none."""
    plan = plan_at_cursor(source.text, cursor, language, FillOptions())
    if isinstance(plan, NoSuggestion):
        raise CliError(f"no suggestion at this place: {plan.reason}", ExitCode.NOTHING)
    return asking_for_body(plan, by_comments=True)


def seen_context(
    source: SourceFile, plan: FillPlan, project: FileProject | None, measured: float | None
) -> SeenContext:
    """Return all that the model would see; without a project only the file's own window.

    It has as much of other files as a suggestion would get at the ``measured`` speed.
    """
    canvas, began = plan.canvas, time.monotonic()
    chunks = tuple(map(_seen, project.choose(plan, measured) if project else ()))
    choose_ms = 1_000 * (time.monotonic() - began)
    project_tokens = sum(one.tokens for one in chunks)
    window_tokens = num_tokens(canvas.prefix + canvas.given + canvas.suffix)
    tokens_per_s = ESTIMATED_TOKENS_PER_S if measured is None else measured
    own_path = source.name if source.path is None else source.path.name
    return SeenContext(
        file=source.name,
        repository=project.root.name if project else None,
        path=project.path if project else own_path,
        chunks=chunks,
        suffix=canvas.suffix,
        prefix=canvas.prefix,
        given=canvas.given,
        question=None if plan.asked is None else plan.asked.user,
        project_tokens=project_tokens,
        window_tokens=window_tokens,
        seconds=(project_tokens + window_tokens) / tokens_per_s,
        tokens_per_s=tokens_per_s,
        is_speed_measured=measured is not None,
        num_indexed=project.index.counts().num_files if project else 0,
        is_index_complete=project.is_complete if project else True,
        index_ms=project.index_ms if project else 0.0,
        choose_ms=choose_ms if project else 0.0,
    )


def num_tokens(text: str) -> int:
    """Return about how many tokens a text has: only the engine has a tokenizer."""
    return round(len(text) / CHARS_PER_TOKEN)


def _seen(chunk: Chunk) -> SeenChunk:
    return SeenChunk(
        path=chunk.path,
        kind=chunk.kind,
        reason=chunk.reason,
        text=chunk.text,
        tokens=num_tokens(f"{chunk.path}\n{chunk.text}\n"),
    )


@click.command("context")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--at",
    metavar="LINE:COL",
    required=True,
    callback=read_position,
    help="The cursor; lines and columns count from 1.",
)
@click.option(
    "--root",
    metavar="FOLDER",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The opened folder.  [default: the file's repository]",
)
@click.option("--no-project", is_flag=True, help="Leave out code from other files.")
@language_option
@json_option
def command(
    file: Path,
    at: Position,
    root: Path | None,
    no_project: bool,
    language: Language | None,
    as_json: bool,
) -> ExitCode:
    """Show all that the model sees at a place of FILE (`-`: standard input).

    Code from other files comes first, each part with its path and the reason why it was chosen,
    then the file around the hole. Tokens are estimated from characters. The folder's index is
    brought up to date first.
    """
    source = read_source(file)
    plan = plan_of(source, language or language_for_path(source.name), offset_of(source.text, at))
    measured, path = reading_speed(), None if no_project else source.path
    if path and root and not path.resolve().is_relative_to(root.resolve()):
        raise CliError(f"{path} is not in {root}: give a --root that contains it")
    with open_project(path, root) as project:
        seen = seen_context(source, plan, project, measured)
    if as_json:
        click.echo(msgspec.json.encode(seen).decode())
    else:
        show_context(output(), seen)
    return ExitCode.OK


_HEADING = "bold"
_REASON = "dim"


def show_context(console: Console, seen: SeenContext) -> None:
    """Print the parts in the order of reading: other files, suffix, prefix, given text."""
    if seen.question is not None:
        _part(console, "instead, a model that follows instructions is asked", seen.question)
    for chunk in seen.chunks:
        label = f"{chunk.kind.replace('_', ' ')}, about {chunk.tokens} tokens"
        _part(console, f"{chunk.path} ({label})", chunk.text, chunk.reason)
    if seen.repository is not None and not seen.chunks:
        console.print(Text("no code from other files: none that helps was found", style=_REASON))
    _part(console, f"{seen.path}: after the hole", seen.suffix)
    _part(console, f"{seen.path}: before the hole", seen.prefix)
    if seen.given:
        _part(console, "already there, the fill continues it", seen.given)
    for line in _costs(seen):
        console.print(Text(line, style=_REASON), soft_wrap=True)


def _part(console: Console, heading: str, text: str, reason: str = "") -> None:
    title = Text(f"── {displayable(heading)}", style=_HEADING)
    if reason:
        title.append(f" · {displayable(reason)}", style=_REASON)
    console.print(title, soft_wrap=True)
    console.print(Text(displayable(text)), soft_wrap=True)


def _costs(seen: SeenContext) -> list[str]:
    source = "measured" if seen.is_speed_measured else "estimated: no engine has measured it yet"
    parts = f"{seen.window_tokens} from this file"
    if seen.repository is not None:
        parts = f"{seen.project_tokens} from other files in {seen.repository}, {parts}"
    lines = [
        f"about {seen.project_tokens + seen.window_tokens} tokens: {parts}",
        f"{seen.seconds:.1f} s to read all of it once, at {seen.tokens_per_s:.0f} tokens a second "
        f"({source})",
    ]
    if seen.repository is not None:
        lines.append(
            f"{seen.num_indexed} files indexed; {seen.index_ms:.0f} ms to bring the index up to "
            f"date, {seen.choose_ms:.0f} ms to choose"
        )
    if not seen.is_index_complete:
        lines.append("the folder is not fully read yet: run this again for more of its code")
    return lines
