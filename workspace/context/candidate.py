"""The state common to all kinds of chunks while context is chosen for one hole.

Each kind proposes chunks within the characters that are left to it, with absolute paths; ``choose``
makes these relative. A file is read and asked for its symbols once.
"""

import posixpath
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from pathlib import PurePosixPath

from intarsia.infill.languages import Language, language_for_path
from intarsia.workspace.context.chunk import (
    Chunk,
    ChunkOptions,
    Place,
    extensions_of,
    in_own_language,
)
from intarsia.workspace.context.neighbourhood import neighbourhood_of
from intarsia.workspace.context.passage import known_lines
from intarsia.workspace.files.exclusion import SECRETS, excluding_pattern
from intarsia.workspace.index.project_index import ProjectIndex
from intarsia.workspace.modules.files import FOLDER_NAMES, files_of
from intarsia.workspace.modules.resolve import resolve_import
from intarsia.workspace.symbols.extract import extract_symbols
from intarsia.workspace.symbols.symbols import FileSymbols, Import
from intarsia.workspace.words import identifiers

MAX_FILES = 60
MIN_PARTS = 2
"""Parts of a module's name that must fit the end of a path: ``logging`` alone may be anyone's."""


class ImportedFiles:
    """Resolves imports of files of one index. Answers are kept: make a new one for each choice."""

    def __init__(self, index: ProjectIndex, path: str, language: Language) -> None:
        """``path``: of the file that context is chosen for; ``language``: of the code in it."""
        self._place, self._language = path, language
        self._with_stem = cache(index.files_named)
        self._files = files_of(index, path)
        self.of = cache(self._resolve)
        """Returns the files that an import in a file means, the likeliest first."""

    def _resolve(self, path: str, imported: Import) -> Sequence[str]:
        language = self._language if path == self._place else language_for_path(path)
        found = resolve_import(imported, path=path, language=language, files=self._files)
        return (found or self._by_end(path, imported.module, language))[:MAX_FILES]

    def _by_end(self, path: str, module: str, language: Language) -> Sequence[str]:
        """Return the file with the longest path that ends with a module's: of an opened package."""
        parts = [part for part in module.replace("::", "/").replace(".", "/").split("/") if part]
        if module.startswith(".") or len(parts) < MIN_PARTS:
            return ()
        endings = extensions_of(path, language)
        stems = ["/".join(parts), *("/".join((*parts, name)) for name in FOLDER_NAMES)]
        return [
            file
            for stem in stems
            for file in self._with_stem(posixpath.basename(stem))
            if posixpath.splitext(file)[0].endswith("/" + stem) and file.endswith(endings)
        ]


PATH_CHARS = 4
"""The cost of the separator and the line end of a chunk's path, beside the path."""


class Surroundings:
    """A hole, the code around it, and the index; what was looked up is remembered."""

    def __init__(self, index: ProjectIndex, place: Place, options: ChunkOptions) -> None:
        """Read the file with the hole, and nothing else yet."""
        self.index, self.options = index, options
        self.place = place = in_own_language(place)
        self.neighbourhood = neighbourhood_of(place)
        self.symbols = symbols_of_text(place.text, place.language)
        self.known = known_lines(place.text)
        self.imported_files = ImportedFiles(index, place.path, place.language)
        self.names = Counter(identifiers(place.text))
        self._symbols: dict[str, FileSymbols | None] = {}
        self._texts: dict[str, str | None] = {}
        self._shown: dict[str, bool] = {}

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
        if not self.may_show(path):
            return None
        if path not in self._symbols:
            edited = self._edited(path)
            self._symbols[path] = (
                self.index.symbols_of(path)
                if edited is None
                else extract_symbols(edited, language_for_path(path))
            )
        return self._symbols[path]

    def text_of(self, path: str) -> str | None:
        """Return the newest text of another file that may be shown."""
        if not self.may_show(path):
            return None
        if path not in self._texts:
            edited = self._edited(path)
            self._texts[path] = self.index.read(path) if edited is None else edited
        return self._texts[path]

    def shown_path(self, path: str) -> str:
        """Return a path relative to its opened folder."""
        root = self.index.root_of(path) or ""
        return path.removeprefix(root.rstrip("/") + "/")

    def cost(self, path: str, text: str) -> int:
        """Return the characters that the model reads for a chunk."""
        return len(self.shown_path(path)) + PATH_CHARS + len(text)

    def total_cost(self, chunks: Iterable[Chunk]) -> int:
        """Return the characters that the model reads for chunks."""
        return sum(self.cost(one.path, one.text) for one in chunks)

    def _edited(self, path: str) -> str | None:
        return next((one.text for one in self.place.recent_edits if one.path == path), None)


@lru_cache(maxsize=4)
def symbols_of_text(text: str, language: Language) -> FileSymbols:
    """Return the symbols of the file with the hole; it is asked about several times in a row."""
    return extract_symbols(text, language)


@lru_cache(maxsize=16_384)
def _is_secret(path: str) -> bool:
    return excluding_pattern(PurePosixPath(path), SECRETS) is not None
