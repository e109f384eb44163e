"""Keeps a set of chunks while a file is edited: choosing again costs reading everything again.

The chunks are read before the file, so one changed character in them makes the engine read them
and the file's window once more. A set therefore stays until the file needs something else: other
imports, an imported name near the hole that the set does not show, edits in other files, or a hole
far away. What is chosen then begins like the former set as far as it can, since a KV cache is kept
as far as its beginning is the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.infill.canvas import budget_chars
from intarsia.workspace.context.candidate import PATH_CHARS, symbols_of_text
from intarsia.workspace.context.choose import choose_chunks
from intarsia.workspace.context.chunk import Chunk, ChunkOptions, Place, in_own_language
from intarsia.workspace.context.neighbourhood import neighbourhood_of
from intarsia.workspace.context.passage import split_lines
from intarsia.workspace.context.similar_passage import MAX_EDITS
from intarsia.workspace.index.project_index import ProjectIndex
from intarsia.workspace.symbols.symbols import FileSymbols
from intarsia.workspace.words import identifiers

MAX_LINES_AWAY = 60
"""A hole farther away than this from the one that the set was chosen for gets a new set."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Needs:
    """The needs of a hole from other files. Holes with the same needs can share their chunks."""

    path: str
    line: int
    imports: frozenset[tuple[str, str]]  # module and the name that the file knows it by
    mentioned: frozenset[str]  # imported names near the hole
    edits: tuple[tuple[str, ...], ...]  # the newest ones in other files: path and lines


@dataclass(frozen=True, kw_only=True, slots=True)
class ChosenContext:
    """Chunks, and what they were chosen for."""

    chunks: tuple[Chunk, ...]
    needs: Needs


def needs_of(place: Place) -> Needs:
    """Return what the hole needs, from the text alone."""
    place = in_own_language(place)
    imports = _imports(symbols_of_text(place.text, place.language))
    names = {name for _, name in imports}
    neighbourhood = neighbourhood_of(place)
    return Needs(
        path=place.path,
        line=neighbourhood.line,
        imports=imports,
        mentioned=frozenset(names & neighbourhood.mentions.keys()),
        edits=tuple(
            (one.path, *split_lines(one.text)[one.start_line : one.end_line])
            for one in place.recent_edits[:MAX_EDITS]
        ),
    )


def is_still_good(previous: ChosenContext, needs: Needs) -> bool:
    """Whether the former chunks serve these needs, too."""
    before = previous.needs
    if (before.path, before.imports, before.edits) != (needs.path, needs.imports, needs.edits):
        return False
    if abs(before.line - needs.line) > MAX_LINES_AWAY:
        return False
    new = needs.mentioned - before.mentioned
    return not new or new <= {name for one in previous.chunks for name in identifiers(one.text)}


def context_for(
    index: ProjectIndex, place: Place, options: ChunkOptions, previous: ChosenContext | None
) -> ChosenContext:
    """Return the former chunks if they still serve the hole, else newly chosen ones."""
    needs = needs_of(place)
    if previous is not None and is_still_good(previous, needs):
        return previous
    chunks = choose_chunks(index, place, options)
    if previous is not None and previous.needs.path == place.path:
        chunks = merged(previous.chunks, chunks, options)
    return ChosenContext(chunks=chunks, needs=needs)


def merged(
    former: Sequence[Chunk], chosen: Sequence[Chunk], options: ChunkOptions
) -> tuple[Chunk, ...]:
    """Return the chosen chunks, first those that the former set begins with.

    A former chunk that shows more lines of its file than the chosen one stays as it was, if that
    fits the budget.
    """
    for is_kept in (_shows_all_of, _is_same):
        beginning: list[Chunk] = []
        rest = list(chosen)
        for old in former:
            new = next((one for one in rest if is_kept(old, one)), None)
            if new is None:
                break
            beginning.append(old)
            rest.remove(new)
        result = (*beginning, *rest)
        if num_chars(result) <= budget_chars(options.budget_tokens):
            return result
    return tuple(chosen)


def num_chars(chunks: Sequence[Chunk]) -> int:
    """Return the characters that the model reads for chunks."""
    return sum(len(one.path) + PATH_CHARS + len(one.text) for one in chunks)


def _shows_all_of(old: Chunk, new: Chunk) -> bool:
    is_of_same = (old.path, old.kind) == (new.path, new.kind)
    return is_of_same and set(new.text.split("\n")) <= set(old.text.split("\n"))


def _is_same(old: Chunk, new: Chunk) -> bool:
    return (old.path, old.text) == (new.path, new.text)


def _imports(symbols: FileSymbols) -> frozenset[tuple[str, str]]:
    return frozenset(
        (one.module, local)
        for one in symbols.imports
        for local in ([name.local for name in one.names] or [one.local])
    )
