"""Adds the imports that the fills of a file need, as its project's index tells."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from intarsia.cli.opened_folder import opened_folder
from intarsia.infill.filling.outcome import FilledPlace
from intarsia.infill.imports.add_imports import import_edits
from intarsia.infill.imports.binding import UnboundName
from intarsia.infill.imports.shown import shown
from intarsia.infill.imports.unbound import unbound_names
from intarsia.infill.languages import Language
from intarsia.infill.replacement import Moves, with_replaced
from intarsia.workspace.imports.finder import ImportFinder
from intarsia.workspace.index.own_index import open_index

INDEX_S = 20.0
"""A folder that takes longer to index gives no imports."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FilledFile:
    """The text with all fills and their imports; ``imports`` are those, as statements."""

    text: str
    imports: tuple[str, ...] = ()


def with_imports(path: Path, language: Language, fillings: Sequence[FilledPlace]) -> FilledFile:
    """Return the filled text with the imports that it needs. The file itself is not changed."""
    text = fillings[-1].result
    changes = [it.replacement for it in fillings if it.replacement is not None]
    moves = Moves(changes)
    starts = [(it.start + moves.before(it), len(it.new)) for it in changes]
    names = [
        name
        for start, length in starts
        for name in unbound_names(text, start, start + length, language)
    ]
    return _with_names(path.resolve(), language, text, names) if names else FilledFile(text=text)


def _with_names(
    path: Path, language: Language, text: str, names: Sequence[UnboundName]
) -> FilledFile:
    with open_index(opened_folder(path)) as own:
        if not own.update(max_s=INDEX_S):
            return FilledFile(text=text)
        finder = ImportFinder(own.index, path.as_posix(), text, language)
        found = [finder.find(name).binding for name in names]
    bindings = [it for it in dict.fromkeys(found) if it is not None]
    edits = import_edits(text, bindings, names[0].offset, language)
    if not edits:
        return FilledFile(text=text)
    imports = tuple(shown(it, language.id) for it in bindings)
    return FilledFile(text=with_replaced(text, edits), imports=imports)
