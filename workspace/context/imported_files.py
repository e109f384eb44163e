"""Which indexed files an import means: by the rules of its language, else by the end of its path.

The rules ask about files; the index answers, so that no folder is read while context is chosen.
"""

import posixpath
from collections.abc import Mapping, Sequence

from intarsia.infill.languages import Language, language_for_path
from intarsia.workspace.context.place import extensions_of
from intarsia.workspace.index.reader import IndexReader
from intarsia.workspace.modules.files import Files
from intarsia.workspace.modules.resolve import resolve_import
from intarsia.workspace.symbols.symbols import Import

MAX_FILES = 60
MIN_PARTS = 2
"""Of a module that is found by the end of its path: ``logging`` alone may be anyone's."""

_FOLDER_NAMES = ("__init__", "index", "mod")
"""Files that speak for their folder."""


class ImportedFiles:
    """Resolves imports of files of one index. Answers are kept: make a new one for each choice."""

    def __init__(self, index: IndexReader, path: str, language: Language) -> None:
        """``path``: of the file that context is chosen for; ``language``: of the code in it."""
        self._index = index
        self._place, self._language = path, language
        self._named: dict[str, Mapping[str, None]] = {}
        self._found: dict[tuple[str, Import], Sequence[str]] = {}
        self._files = Files(
            roots=[root] if (root := index.root_of(path)) else [],
            exists=self._exists,
            files_in=index.files_in,
            read=index.read,
        )

    def of(self, path: str, imported: Import) -> Sequence[str]:
        """Return the files that an import in ``path`` means, the likeliest first."""
        key = (path, imported)
        if key not in self._found:
            self._found[key] = self._resolve(path, imported)
        return self._found[key]

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
        stems = ["/".join(parts), *("/".join((*parts, name)) for name in _FOLDER_NAMES)]
        return [
            file
            for stem in stems
            for file in self._with_stem(posixpath.basename(stem))
            if posixpath.splitext(file)[0].endswith("/" + stem) and file.endswith(endings)
        ]

    def _exists(self, path: str) -> bool:
        name = path.rpartition("/")[2]
        return path in self._with_stem(name.rpartition(".")[0] or name)

    def _with_stem(self, stem: str) -> Mapping[str, None]:
        """Return the paths with a stem, as keys: the rules ask about hundreds of paths."""
        if stem not in self._named:
            self._named[stem] = dict.fromkeys(self._index.files_named(stem))
        return self._named[stem]


def is_module_named(path: str, name: str) -> bool:
    """Whether a file is the module of this name: ``name.py`` or ``name/__init__.py``."""
    folder, file = posixpath.split(path)
    stem = file.partition(".")[0]
    return (posixpath.basename(folder) if stem in _FOLDER_NAMES else stem) == name
