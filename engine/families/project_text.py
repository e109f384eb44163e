"""Code of other files as text: what a model reads before the file with the hole.

A family with marks for the files of a repository lays them out itself. For all others they are
plain text, each file after a comment line with its path, as in DeepSeek-Coder's training data.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from intarsia.engine.ipc.messages import ContextChunk, ProjectContext

_MAX_PATH_CHARS = 200
_MAX_CHARS_PER_TOKEN = 64  # more text than that cannot fit: it is not encoded


@dataclass(frozen=True, kw_only=True, slots=True)
class ProjectIds:
    """Other files as ids: those before the file with the hole, and those at its prefix's start."""

    before_mark: Sequence[int] = ()
    in_prefix: Sequence[int] = ()

    def __len__(self) -> int:
        return len(self.before_mark) + len(self.in_prefix)


NO_PROJECT = ProjectIds()


def has_chunks(project: ProjectContext | None) -> bool:
    """Return whether there is anything to read."""
    return project is not None and any(chunk.text.strip() for chunk in project.chunks)


def as_plain_text(
    project: ProjectContext | None, encode: Callable[[str], list[int]], *, max_tokens: int
) -> ProjectIds:
    """Return the files, and the path of the file with the hole, if any fits into ``max_tokens``."""
    if project is None:
        return NO_PROJECT
    own_path = encode(_path_line(project.path))
    files = last_that_fit(
        project.chunks,
        lambda chunk: encode(f"{_path_line(chunk.path)}{chunk_text(chunk)}\n"),
        max_tokens=max_tokens - len(own_path),
    )
    return ProjectIds(before_mark=files, in_prefix=own_path) if files else NO_PROJECT


def last_that_fit(
    chunks: Sequence[ContextChunk],
    encode: Callable[[ContextChunk], list[int]],
    *,
    max_tokens: int,
) -> list[int]:
    """Return the ids of the last chunks, which are most useful, that fit into ``max_tokens``."""
    kept: list[int] = []
    for chunk in reversed(chunks):
        if len(chunk.text) > _MAX_CHARS_PER_TOKEN * (max_tokens - len(kept)):
            break
        if chunk.text.strip():
            ids = encode(chunk)
            if len(kept) + len(ids) > max_tokens:
                break
            kept = [*ids, *kept]
    return kept


def _path_line(path: str) -> str:
    """Return the line before a file, a comment in many languages."""
    return f"# {one_line(path)}\n"


def chunk_text(chunk: ContextChunk) -> str:
    """Return the chunk's text with one line end at its end."""
    return chunk.text.rstrip("\n") + "\n"


def one_line(name: str) -> str:
    """Return the end of a name or path without line ends: nothing in it may look like code."""
    return " ".join(name.split())[-_MAX_PATH_CHARS:]
