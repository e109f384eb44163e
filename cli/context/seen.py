"""Gathers what the model would see at a place: code of other files, prefix, given text, suffix.

It is the same plan that a suggestion uses, and the same choice that the language server asks for.
"""

import time
from dataclasses import dataclass
from pathlib import Path

import msgspec

from intarsia.cli.context.speed import ReadingSpeed
from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.fill.source_file import SourceFile
from intarsia.infill.canvas.window import CHARS_PER_TOKEN
from intarsia.infill.filling.options import FillOptions
from intarsia.infill.filling.plan import FillPlan, plan_at_cursor
from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion
from intarsia.workspace.context.choose import choose_chunks
from intarsia.workspace.context.chunk import Chunk, ChunkKind
from intarsia.workspace.context.options import ChunkOptions
from intarsia.workspace.context.place import Place
from intarsia.workspace.index.own_index import open_index

MAX_INDEX_S = 60.0


class SeenChunk(msgspec.Struct, frozen=True, kw_only=True):
    """A passage of another file. ``tokens`` are estimated, with its path."""

    path: str
    kind: ChunkKind
    reason: str
    text: str
    tokens: int


class SeenContext(msgspec.Struct, frozen=True, kw_only=True):
    """What the model sees, in the order of reading up to ``given``, and what it costs.

    ``seconds`` is the time to read everything once; what was read before costs nothing.
    """

    file: str
    repository: str | None
    path: str
    chunks: tuple[SeenChunk, ...]
    suffix: str
    prefix: str
    given: str
    project_tokens: int
    window_tokens: int
    seconds: float
    tokens_per_s: float
    is_speed_measured: bool
    num_indexed: int
    index_ms: float
    choose_ms: float


@dataclass(frozen=True, kw_only=True, slots=True)
class ProjectChunks:
    """Chunks of the project that a file is in, and what finding them took."""

    root: Path
    chunks: tuple[Chunk, ...]
    num_indexed: int
    index_ms: float
    choose_ms: float


def plan_of(source: SourceFile, language: Language, cursor: int) -> FillPlan:
    """Return the plan of a suggestion at the cursor. Raise CliError if there would be none."""
    plan = plan_at_cursor(source.text, cursor, language, FillOptions())
    if isinstance(plan, NoSuggestion):
        raise CliError(f"no suggestion at this place: {plan.reason}", ExitCode.NOTHING)
    return plan


def choose_of(plan: FillPlan, file: Path, root: Path) -> ProjectChunks:
    """Bring the folder's index up to date, and choose chunks for a file in it."""
    began = time.monotonic()
    with open_index(root) as own:
        own.update(max_s=MAX_INDEX_S)
        indexed = time.monotonic()
        first, last = plan.window
        place = Place(
            path=file.resolve().as_posix(),
            text=plan.text,
            language=plan.language,
            offset=plan.hole.start,
            window_start=first,
            window_end=last,
        )
        chunks = choose_chunks(own.index, place, ChunkOptions())
        return ProjectChunks(
            root=root,
            chunks=chunks,
            num_indexed=own.index.counts().num_files,
            index_ms=1_000 * (indexed - began),
            choose_ms=1_000 * (time.monotonic() - indexed),
        )


def seen_context(
    source: SourceFile, plan: FillPlan, project: ProjectChunks | None, speed: ReadingSpeed
) -> SeenContext:
    """Return all that the model would see; without a project only the file's own window."""
    canvas = plan.canvas
    chunks = tuple(map(_seen, project.chunks)) if project else ()
    project_tokens = sum(one.tokens for one in chunks)
    window_tokens = num_tokens(canvas.prefix + canvas.given + canvas.suffix)
    return SeenContext(
        file=source.name,
        repository=project.root.name if project else None,
        path=_path_in(source, project),
        chunks=chunks,
        suffix=canvas.suffix,
        prefix=canvas.prefix,
        given=canvas.given,
        project_tokens=project_tokens,
        window_tokens=window_tokens,
        seconds=(project_tokens + window_tokens) / speed.tokens_per_s,
        tokens_per_s=speed.tokens_per_s,
        is_speed_measured=speed.is_measured,
        num_indexed=project.num_indexed if project else 0,
        index_ms=project.index_ms if project else 0.0,
        choose_ms=project.choose_ms if project else 0.0,
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


def _path_in(source: SourceFile, project: ProjectChunks | None) -> str:
    if source.path is None:
        return source.name
    if project is None:
        return source.path.name
    return source.path.resolve().relative_to(project.root).as_posix()
