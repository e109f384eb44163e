"""Gathers the matches of a query into the imports of a file."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from intarsia.workspace.symbols.found import node_text
from intarsia.workspace.symbols.query import Captures
from intarsia.workspace.symbols.symbols import Import, ImportedName

DEFAULT = "default"
"""The name that a JavaScript module's main export has in an import."""

_SEPARATOR = re.compile(r"[:\\\\./]+")
_VERSION = re.compile(r"/v\d+$|\.v\d+$")
_QUOTES = "\"'`<>"


@dataclass(kw_only=True, slots=True)
class _Import:
    module: str
    line: int
    local: str = ""
    names: dict[ImportedName, None] = field(default_factory=dict)


def find_imports(matches: Sequence[Captures], data: bytes) -> tuple[Import, ...]:
    """Return the imports in the order of the text; one statement may import several modules."""
    found: dict[tuple[int, str], _Import] = {}
    for captures in matches:
        nodes = captures.get("import")
        if nodes is None or "import.module" not in captures:
            continue
        module = _module(captures, data)
        one = found.setdefault(
            (nodes[0].start_byte, module), _Import(module=module, line=nodes[0].start_point.row)
        )
        if "import.name" in captures or "import.default" in captures:
            name = _text(captures, "name", data).strip(_QUOTES) or DEFAULT
            one.names[ImportedName(name=name, local=_text(captures, "alias", data) or name)] = None
        one.local = _text(captures, "local", data) or one.local or _last_part(captures, data)
    return tuple(
        Import(module=one.module, names=tuple(one.names), local=one.local, line=one.line)
        for (_, one) in sorted(found.items(), key=lambda item: item[0][0])
    )


def _module(captures: Captures, data: bytes) -> str:
    """Return the module as it is written; what is in braces comes after what leads to them."""
    module = _text(captures, "module", data).strip().strip(_QUOTES)
    parent = captures.get("import.parent")
    if parent is None:
        return module
    rest = data[parent[0].end_byte : captures["import.module"][0].start_byte]
    separator = _SEPARATOR.match(rest.decode("utf-8", "replace"))
    return node_text(parent[0], data) + (separator[0] if separator else "") + module


def _last_part(captures: Captures, data: bytes) -> str:
    """Return the last part of a path, without a version: ``chi`` of ``go-chi/chi/v5``."""
    path = _text(captures, "last", data).strip(_QUOTES)
    return _VERSION.sub("", path).rpartition("/")[2]


def _text(captures: Captures, name: str, data: bytes) -> str:
    nodes = captures.get(f"import.{name}")
    return node_text(nodes[0], data) if nodes else ""
