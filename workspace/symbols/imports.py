"""Gathers the matches of a query into the imports of a file."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from intarsia.workspace.symbols.found import node_text
from intarsia.workspace.symbols.query import Captures
from intarsia.workspace.symbols.symbols import Import, ImportedName

DEFAULT = "default"
"""The name that a JavaScript module's main export has in an import."""

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
        modules = captures.get("import.module")
        if nodes is None or modules is None:
            continue
        module = node_text(modules[0], data).strip().strip(_QUOTES)
        one = found.setdefault(
            (nodes[0].start_byte, module), _Import(module=module, line=nodes[0].start_point.row)
        )
        if "import.name" in captures or "import.default" in captures:
            name = _text(captures, "name", data).strip(_QUOTES) or DEFAULT
            one.names[ImportedName(name=name, local=_text(captures, "alias", data) or name)] = None
        one.local = _text(captures, "local", data) or one.local
    return tuple(
        Import(module=one.module, names=tuple(one.names), local=one.local, line=one.line)
        for (_, one) in sorted(found.items(), key=lambda item: item[0][0])
    )


def _text(captures: Captures, name: str, data: bytes) -> str:
    nodes = captures.get(f"import.{name}")
    return node_text(nodes[0], data) if nodes else ""
