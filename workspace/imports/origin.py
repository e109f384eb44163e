"""Follows a name through modules that pass it on, to the file that defines it."""

from collections.abc import Callable

from intarsia.workspace.imports.evidence import Candidate
from intarsia.workspace.index.reader import IndexReader

MAX_HOPS = 5


def same_meaning(
    index: IndexReader,
    one: Candidate,
    other: Candidate,
    path_of: Callable[[str], str | None],
) -> bool:
    """Whether one of two places only passes on what the other one has."""
    if (one.name, one.form) != (other.name, other.form) or not one.name:
        return False
    return _passes_on(index, one, other, path_of) or _passes_on(index, other, one, path_of)


def _passes_on(
    index: IndexReader, one: Candidate, other: Candidate, path_of: Callable[[str], str | None]
) -> bool:
    """Whether the file of a place imports the name, and does not define it."""
    path = path_of(one.place)
    symbols = None if path is None else index.symbols_of(path)
    if symbols is None or any(
        it.name == one.name and not it.container for it in symbols.definitions
    ):
        return False
    end = _last_name(other.place)
    return any(
        given.local == one.name or given.name == "*"
        for imported in symbols.imports
        for given in imported.names
        if end in imported.module or not imported.module.strip(".")
    )


def _last_name(place: str) -> str:
    """Return the last part of a place that tells it from others: of a folder's file, the folder."""
    if "/" not in place:
        return place.rpartition("::")[2].rpartition(".")[2]
    folder, _, file = place.rpartition("/")
    stem = file.partition(".")[0]
    return folder.rpartition("/")[2] if stem == "index" else stem
