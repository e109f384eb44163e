"""The answers of an index. Paths are absolute, with forward slashes."""

from dataclasses import dataclass

from intarsia.workspace.symbols.symbols import Definition, ImportKind


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
