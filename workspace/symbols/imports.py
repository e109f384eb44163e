"""Gathers the matches of a query into the imports of a file."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from intarsia.infill.imports.binding import DEFAULT, package_name
from intarsia.workspace.symbols.found import node_text
from intarsia.workspace.symbols.query import Captures
from intarsia.workspace.symbols.symbols import Import, ImportedName, ImportKind

MAX_IMPORTS = 2_000

_ALL = {"_": "*"}
"""What Scala wrote for every public name, before version 3."""

_KINDS: tuple[ImportKind, ...] = ("require", "static", "export", "submodule")

_SEPARATOR = re.compile(r"[:\\\\./]+")
_QUOTES = "\"'`<>"


@dataclass(kw_only=True, slots=True)
class _Import:
    module: str
    line: int
    local: str = ""
    kind: ImportKind = "plain"
    is_nested: bool
    names: dict[tuple[str, str], bool] = field(default_factory=dict)  # whether it is a type


def find_imports(matches: Sequence[Captures], data: bytes) -> tuple[Import, ...]:
    """Return the imports in the order of the text; one statement may import several modules."""
    found: dict[tuple[int, str], _Import] = {}
    for captures in matches:
        nodes = captures.get("import")
        if nodes is None or not captures.keys() & {"import.module", "import.path"}:
            continue
        module, path_name = _module(captures, data)
        if not module:
            continue
        one = found.setdefault(
            (nodes[0].start_byte, module),
            _Import(
                module=module,
                line=nodes[0].start_point.row,
                is_nested=nodes[0].start_point.column > 0,
            ),
        )
        if path_name:
            local = _text(captures, "alias", data) or path_name
            _add_name(one, path_name, local, captures)
        elif "import.name" in captures or "import.default" in captures:
            name = _text(captures, "name", data).strip(_QUOTES) or DEFAULT
            name = _ALL.get(name, name)
            _add_name(one, name, _text(captures, "alias", data) or name, captures)
        one.kind = next((it for it in _KINDS if f"import.{it}" in captures), one.kind)
        one.local = _text(captures, "local", data) or one.local or _last_part(captures, data)
    return tuple(
        Import(
            module=one.module,
            names=tuple(
                ImportedName(name=name, local=local, is_type=is_type)
                for (name, local), is_type in one.names.items()
            ),
            local=one.local,
            line=one.line,
            kind=one.kind,
            is_nested=one.is_nested,
        )
        for _, one in sorted(found.items(), key=lambda item: item[0][0])[:MAX_IMPORTS]
    )


def _add_name(one: _Import, name: str, local: str, captures: Captures) -> None:
    one.names[name, local] = one.names.get((name, local), False) or "import.type" in captures


def _module(captures: Captures, data: bytes) -> tuple[str, str]:
    """Return the module as it is written, and the name that is the end of a whole path."""
    if "import.path" in captures:
        return _split_path(_text(captures, "path", data), "import.name" in captures)
    module = _text(captures, "module", data).strip().strip(_QUOTES)
    parent = captures.get("import.parent")
    if parent is None:
        return module, ""
    rest = data[parent[0].end_byte : captures["import.module"][0].start_byte]
    separator = _SEPARATOR.match(rest.decode("utf-8", "replace"))
    return node_text(parent[0], data) + (separator[0] if separator else "") + module, ""


def _split_path(statement: str, has_names: bool) -> tuple[str, str]:
    """Return module and last name of ``import a.b.C``; of ``a.b.{C, D}``, the module alone."""
    path = "".join(statement.removeprefix("import ").split())
    plain = path.partition("{")[0].rstrip("*_").rstrip(".")
    if has_names:
        return plain, ""
    if plain != path:  # another match has the names
        return "", ""
    module, _, name = path.rpartition(".")
    return module, name


def _last_part(captures: Captures, data: bytes) -> str:
    """Return the name that the last part of a path tells: ``chi`` of ``go-chi/chi/v5``."""
    path = _text(captures, "last", data).strip(_QUOTES)
    return package_name(path) if "/" in path else path.rpartition(".")[2]


def _text(captures: Captures, name: str, data: bytes) -> str:
    nodes = captures.get(f"import.{name}")
    return node_text(nodes[0], data) if nodes else ""
