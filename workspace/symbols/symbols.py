"""Definitions and imports of one file, as plain values."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

ImportKind: TypeAlias = Literal["plain", "require", "static", "export", "submodule"]
"""``require``: of CommonJS. ``export``: what a module of JavaScript passes on. ``submodule``: of
Rust's ``mod a;``."""

DefinitionKind: TypeAlias = Literal[
    "module", "class", "function", "method", "field", "constant", "type"
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """A named thing that a file defines. Lines are 0-based, ``end_line`` is exclusive.

    A class is also a struct, an enum or a record; a type is an interface, a trait or an alias.
    """

    name: str
    kind: DefinitionKind
    signature: str  # its header without its body, as it is written
    container: str  # names of the definitions around it, joined by dots; "" at the top level
    bases: tuple[str, ...] = ()  # of a class: the names that it extends or implements
    type_name: str = ""  # the declared type of a field, or what a function returns; "" if unknown
    start_line: int
    end_line: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedName:
    """One name of an import: ``name`` in the other file, ``local`` in this one."""

    name: str
    local: str
    is_type: bool = False  # of TypeScript: the compiler erases it


@dataclass(frozen=True, kw_only=True, slots=True)
class Import:
    """One import. Without ``names``, the whole module is imported as ``local``.

    ``import a.b`` has the local name ``a.b``; ``import "./setup"`` has none. The name ``*`` means
    every public name, ``default`` the main export of a JavaScript module.
    """

    module: str  # as it is written, without quotes
    names: tuple[ImportedName, ...] = ()
    local: str = ""
    line: int
    kind: ImportKind = "plain"
    is_nested: bool = False  # in a function, a condition or a class: not always run


@dataclass(frozen=True, kw_only=True, slots=True)
class FileSymbols:
    """The definitions and imports of a file, in the order of the text."""

    definitions: tuple[Definition, ...] = ()
    imports: tuple[Import, ...] = ()


class GivenName(NamedTuple):
    """``first`` is the first part of ``local``; ``name`` is "" for the module itself."""

    first: str
    module: str
    name: str
    local: str
    kind: ImportKind
    is_type: bool


def given_names(symbols: FileSymbols) -> Iterator[GivenName]:
    """Yield the names, but those of a star import."""
    for one in symbols.imports:
        names = [(it.name, it.local, it.is_type) for it in one.names if it.name != "*"]
        if not one.names and one.local:
            names = [("", one.local, False)]
        for name, local, is_type in names:
            is_module = name == "self" == local  # of Rust
            known_as = one.module.rpartition("::")[2] if is_module else local
            first = known_as.partition(".")[0]
            yield GivenName(first, one.module, name, known_as, one.kind, is_type)
