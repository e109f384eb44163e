"""The questions that the choice of context asks an index: a protocol, so tests need no database.

Paths are absolute, with forward slashes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from intarsia.workspace.files.paths import Seen
from intarsia.workspace.symbols.symbols import Definition, FileSymbols, ImportKind


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundDefinition:
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
    """The indexed files; ``ProjectIndex`` says what each method returns. All are quick."""

    def symbols_of(self, path: str) -> FileSymbols | None: ...
    def definitions_named(self, name: str, *, limit: int) -> Sequence[FoundDefinition]: ...
    def imports_of(self, name: str, *, path: str, limit: int) -> Sequence[FoundImport]: ...
    def files_named(self, name: str) -> Sequence[str]: ...
    def files_with(self, name: str, *, path: str, limit: int) -> Sequence[str]: ...
    def files_in(self, folder: str) -> Sequence[str]: ...
    def root_of(self, path: str) -> str | None: ...
    def similar(
        self, words: Sequence[str], *, path: str, limit: int
    ) -> Sequence[SimilarPassage]: ...
    def read(self, path: str) -> str | None: ...
    def seen(self, path: str) -> tuple[Seen, ...]: ...
