"""What all kinds of chunks share while context is chosen for one hole.

Each kind proposes candidates within the characters that are left to it; ``choose`` turns them into
chunks. A file is read and asked for its symbols once.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath

from intarsia.infill.languages import Language, language_for_path
from intarsia.workspace.context.chunk import ChunkKind
from intarsia.workspace.context.imported_files import ImportedFiles
from intarsia.workspace.context.neighbourhood import Neighbourhood, neighbourhood_of
from intarsia.workspace.context.options import ChunkOptions
from intarsia.workspace.context.passage import KnownLines, known_lines
from intarsia.workspace.context.place import Place, in_own_language
from intarsia.workspace.files.exclusion import SECRETS, excluding_pattern
from intarsia.workspace.index.reader import IndexReader
from intarsia.workspace.symbols.extract import extract_symbols
from intarsia.workspace.symbols.symbols import FileSymbols
from intarsia.workspace.words import identifiers

PATH_CHARS = 4
"""What the separator and the line end of a chunk's path cost beside the path."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A chunk with the absolute path of its file."""

    path: str
    text: str
    kind: ChunkKind
    reason: str


@dataclass(kw_only=True, slots=True)
class Surroundings:
    """A hole, the code around it, and the index; what was looked up is remembered."""

    index: IndexReader
    place: Place
    options: ChunkOptions
    neighbourhood: Neighbourhood
    symbols: FileSymbols  # of the file with the hole
    known: KnownLines
    imported_files: ImportedFiles
    names: Mapping[str, int]  # how often each identifier is in the file
    _symbols: dict[str, FileSymbols | None] = field(default_factory=dict)
    _texts: dict[str, str | None] = field(default_factory=dict)
    _shown: dict[str, bool] = field(default_factory=dict)

    def may_show(self, path: str) -> bool:
        """Whether text of a file may be shown: it is in the hole's opened folder, and no secret.

        Folders that are open together may be projects that have nothing to do with each other.
        """
        if path not in self._shown:
            self._shown[path] = (
                path != self.place.path
                and (root := self.index.root_of(self.place.path)) is not None
                and self.index.root_of(path) == root
                and not _is_secret(path)
            )
        return self._shown[path]

    def symbols_of(self, path: str) -> FileSymbols | None:
        """Return the symbols of another file that may be shown: of its newest text."""
        if path not in self._symbols:
            self._symbols[path] = self._find_symbols(path) if self.may_show(path) else None
        return self._symbols[path]

    def text_of(self, path: str) -> str | None:
        """Return the newest text of another file that may be shown."""
        if path not in self._texts:
            self._texts[path] = self._find_text(path) if self.may_show(path) else None
        return self._texts[path]

    def num_uses(self, name: str) -> int:
        """Return how often a name is in the file with the hole."""
        return self.names.get(name, 0)

    def language_of(self, path: str) -> Language:
        return language_for_path(path)

    def shown_path(self, path: str) -> str:
        """Return a path relative to its opened folder."""
        root = self.index.root_of(path) or ""
        return path.removeprefix(root.rstrip("/") + "/")

    def cost(self, path: str, text: str) -> int:
        """Return the characters that the model reads for a chunk."""
        return len(self.shown_path(path)) + PATH_CHARS + len(text)

    def _find_symbols(self, path: str) -> FileSymbols | None:
        edited = self._edited(path)
        if edited is None:
            return self.index.symbols_of(path)
        return extract_symbols(edited, self.language_of(path))

    def _find_text(self, path: str) -> str | None:
        edited = self._edited(path)
        return self.index.read(path) if edited is None else edited

    def _edited(self, path: str) -> str | None:
        return next((one.text for one in self.place.recent_edits if one.path == path), None)


@lru_cache(maxsize=4)
def symbols_of_text(text: str, language: Language) -> FileSymbols:
    """Return the symbols of the file with the hole; it is asked about several times in a row."""
    return extract_symbols(text, language)


@lru_cache(maxsize=16_384)
def _is_secret(path: str) -> bool:
    return excluding_pattern(PurePosixPath(path), SECRETS) is not None


def surroundings_of(index: IndexReader, place: Place, options: ChunkOptions) -> Surroundings:
    """Read the file with the hole, and nothing else yet."""
    place = in_own_language(place)
    return Surroundings(
        index=index,
        place=place,
        options=options,
        neighbourhood=neighbourhood_of(place),
        symbols=symbols_of_text(place.text, place.language),
        known=known_lines(place.text),
        imported_files=ImportedFiles(index, place.path, place.language),
        names=Counter(identifiers(place.text)),
    )
