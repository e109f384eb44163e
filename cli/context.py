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
from intarsia.infill.filling.described_body import asking_for_body
from intarsia.infill.filling.plan import FillOptions, FillPlan, plan_at_cursor
from intarsia.infill.languages import Language, language_for_path
from intarsia.infill.suggestion import NoSuggestion
from intarsia.workspace.context.chunk import Chunk, ChunkKind
from intarsia.workspace.context.seen_text import (
    ESTIMATED_TOKENS_PER_S,
    HEADING,
    chunk_tokens,
    seen_text,
    window_tokens,
)


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
    return asking_for_body(plan, at_cursor=True)


def seen_context(
    source: SourceFile, plan: FillPlan, project: FileProject | None, measured: float | None
) -> SeenContext:
    """Return all that the model would see; without a project only the file's own window.

    It has as much of other files as a suggestion would get at the ``measured`` speed.
    """
    canvas, began = plan.canvas, time.monotonic()
    chunks = project.choose(plan, measured) if project else ()
    choose_ms = 1_000 * (time.monotonic() - began)
    project_tokens, own_tokens = sum(map(chunk_tokens, chunks)), window_tokens(plan)
    tokens_per_s = ESTIMATED_TOKENS_PER_S if measured is None else measured
    own_path = source.name if source.path is None else source.path.name
    return SeenContext(
        file=source.name,
        repository=project.root.name if project else None,
        path=project.path if project else own_path,
        chunks=tuple(map(_seen, chunks)),
        suffix=canvas.suffix,
        prefix=canvas.prefix,
        given=canvas.given,
        question=None if plan.asked is None else plan.asked.user,
        project_tokens=project_tokens,
        window_tokens=own_tokens,
        seconds=(project_tokens + own_tokens) / tokens_per_s,
        tokens_per_s=tokens_per_s,
        is_speed_measured=measured is not None,
        num_indexed=project.index.counts().num_files if project else 0,
        is_index_complete=project.is_complete if project else True,
        index_ms=project.index_ms if project else 0.0,
        choose_ms=choose_ms if project else 0.0,
    )


def _seen(chunk: Chunk) -> SeenChunk:
    return SeenChunk(
        path=chunk.path,
        kind=chunk.kind,
        reason=chunk.reason,
        text=chunk.text,
        tokens=chunk_tokens(chunk),
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
        if as_json:
            seen = seen_context(source, plan, project, measured)
            click.echo(msgspec.json.encode(seen).decode())
        else:
            show_context(output(), source, plan, project, measured)
    return ExitCode.OK


def show_context(
    console: Console,
    source: SourceFile,
    plan: FillPlan,
    project: FileProject | None,
    measured: float | None,
) -> None:
    """Print it in words, the headings in bold."""
    text = seen_text(
        plan,
        project.choose(plan, measured) if project else None,
        file=project.path if project else source.name,
        tokens_per_s=measured,
        is_complete=project.is_complete if project else True,
    )
    for line in displayable(text).split("\n"):
        style = "bold" if line.startswith(HEADING) else ""
        console.print(Text(line, style=style), soft_wrap=True)
