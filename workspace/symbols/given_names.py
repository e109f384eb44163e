"""The names that a file's imports give to it, one by one."""

from collections.abc import Iterator
from typing import NamedTuple

from intarsia.workspace.symbols.symbols import FileSymbols, ImportKind


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
