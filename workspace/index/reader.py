"""What the choice of context asks an index: a protocol, so that tests need no database.

Paths are absolute, with forward slashes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from intarsia.workspace.files.seen import Seen
from intarsia.workspace.symbols.symbols import Definition, FileSymbols, ImportKind


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundDefinition:
    """A definition and the file that it is in."""

    path: str
    definition: Definition


@dataclass(frozen=True, kw_only=True, slots=True)
class SimilarPassage:
    """Lines of a file that share words with a query; ``score`` is BM25, higher is more similar."""

    path: str
    start_line: int  # 0-based
    end_line: int  # exclusive
    score: float


@dataclass(frozen=True, slots=True)
class FoundImport:
    """How a file imports one name. ``name``: in the module, "" for the module itself.

    ``local``: in the file; ``a.b`` for Python's ``import a.b``.
    """

    path: str
    module: str
    name: str
    local: str
    kind: ImportKind
    is_type: bool


class IndexReader(Protocol):
    """The indexed files. Every method is quick: a few database look-ups."""

    def symbols_of(self, path: str) -> FileSymbols | None:
        """Return what a file defines and imports, None if it is not indexed."""
        ...

    def definitions_named(self, name: str, *, limit: int) -> Sequence[FoundDefinition]:
        """Return definitions of this name, at most ``limit`` of each opened folder."""
        ...

    def imports_of(self, name: str, *, path: str, limit: int) -> Sequence[FoundImport]:
        """Return how files of the opened folder that ``path`` is in import this name."""
        ...

    def files_named(self, name: str) -> Sequence[str]:
        """Return the paths of files with this name without its extension, in any folder."""
        ...

    def files_in(self, folder: str) -> Sequence[str]:
        """Return the paths of the indexed files of a folder, without those of its subfolders."""
        ...

    def root_of(self, path: str) -> str | None:
        """Return the opened folder that a file is in, None if it is in none."""
        ...

    def similar(self, words: Sequence[str], *, path: str, limit: int) -> Sequence[SimilarPassage]:
        """Return passages with these words, most similar first.

        They are of the other files of the opened folder that ``path`` is in.
        """
        ...

    def read(self, path: str) -> str | None:
        """Return the text of an indexed file as it is now, None if it may not or cannot be read."""
        ...

    def seen(self, path: str) -> tuple[Seen, ...]:
        """Return a file as it was indexed, and the ignore files as they were when it was judged."""
        ...
