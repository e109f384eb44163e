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
class ProjectText:
    """Ids of other files as plain text, and of the path line before the file with the hole."""

    files: Sequence[int] = ()
    own_path: Sequence[int] = ()

    def __len__(self) -> int:
        return len(self.files) + len(self.own_path)


NO_FILES = ProjectText()


def has_chunks(project: ProjectContext | None) -> bool:
    """Tell whether there is anything to read."""
    return project is not None and any(chunk.text.strip() for chunk in project.chunks)


def as_plain_text(
    project: ProjectContext, encode: Callable[[str], list[int]], *, max_tokens: int
) -> ProjectText:
    """Return the files as far as they fit into ``max_tokens``, empty if none does."""
    own_path = encode(path_line(project.path))
    files = last_that_fit(
        project.chunks,
        lambda chunk: encode(plain_file(chunk)),
        max_tokens=max_tokens - len(own_path),
    )
    if not files:
        return NO_FILES
    return ProjectText(files=[token for ids in files for token in ids], own_path=own_path)


def last_that_fit(
    chunks: Sequence[ContextChunk],
    encode: Callable[[ContextChunk], list[int]],
    *,
    max_tokens: int,
) -> list[list[int]]:
    """Return the ids of the last chunks, which are most useful, that fit into ``max_tokens``."""
    kept: list[list[int]] = []
    for chunk in reversed(chunks):
        if len(chunk.text) > _MAX_CHARS_PER_TOKEN * max_tokens:
            break
        if chunk.text.strip():
            ids = encode(chunk)
            max_tokens -= len(ids)
            if max_tokens < 0:
                break
            kept.insert(0, ids)
    return kept


def plain_file(chunk: ContextChunk) -> str:
    """Return a chunk after its path line, with a blank line after it."""
    return f"{path_line(chunk.path)}{chunk_text(chunk)}\n"


def path_line(path: str) -> str:
    """Return the line before a file, a comment in many languages."""
    return f"# {one_line(path)}\n"


def chunk_text(chunk: ContextChunk) -> str:
    """Return the chunk's text with one line end at its end."""
    return chunk.text.rstrip("\n") + "\n"


def one_line(name: str) -> str:
    """Return the end of a name or path without line ends: nothing in it may look like code."""
    return " ".join(name.split())[-_MAX_PATH_CHARS:]
