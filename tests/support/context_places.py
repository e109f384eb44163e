"""Small workspaces with a marked hole, and the context that is chosen for it."""

from collections.abc import Mapping

from memory_index import memory_index

from intarsia.infill.languages import language_for_path
from intarsia.workspace.context.choose import choose_chunks
from intarsia.workspace.context.chunk import Chunk, ChunkKind, ChunkOptions, Place, RecentEdit
from intarsia.workspace.index.project_index import ProjectIndex

ROOT = "/work/app"
HOLE = "▮"


def workspace(files: Mapping[str, str]) -> ProjectIndex:
    """Return an index of files by their paths relative to the root; marks of holes are removed."""
    texts = {f"{ROOT}/{path}": text.replace(HOLE, "") for path, text in files.items()}
    return memory_index(texts, [ROOT])


def place_in(path: str, text: str, *, edits: tuple[RecentEdit, ...] = ()) -> Place:
    offset = text.index(HOLE)
    whole = text.replace(HOLE, "")
    return Place(
        path=f"{ROOT}/{path}",
        text=whole,
        language=language_for_path(path),
        offset=offset,
        window_start=0,
        window_end=len(whole),
        recent_edits=edits,
    )


def chosen(
    files: Mapping[str, str],
    path: str,
    *kinds: ChunkKind,
    budget_tokens: int = 500,
    edits: tuple[RecentEdit, ...] = (),
) -> tuple[Chunk, ...]:
    """Return the chunks of these kinds for the hole in ``files[path]``; no kind means all."""
    options = ChunkOptions(budget_tokens=budget_tokens)
    if kinds:
        options = ChunkOptions(budget_tokens=budget_tokens, kinds=frozenset(kinds))
    return choose_chunks(workspace(files), place_in(path, files[path], edits=edits), options)
