"""Passages of other files as the engine takes them: what it reads before the file with the hole."""

from collections.abc import Iterable

from intarsia.engine.ipc.messages import ContextChunk, ProjectContext


def to_project_context(
    passages: Iterable[tuple[str, str]], repository: str, path: str
) -> ProjectContext | None:
    """Return the message for passages, given as path and text in the order of reading.

    ``repository`` is the opened folder's name, ``path`` that of the file with the hole in it. None
    if there is no passage: a fill without project context is the same as before.
    """
    chunks = tuple(ContextChunk(path=of, text=text) for of, text in passages if text)
    if not chunks:
        return None
    return ProjectContext(repository=repository, path=path, chunks=chunks)
