"""Writes an import into a Java file."""

from collections.abc import Sequence

import tree_sitter

from intarsia.infill.imports.binding import ImportBinding
from intarsia.infill.imports.import_lines import (
    ImportLine,
    Order,
    after_line,
    before_line,
    head_end,
    import_line,
    place_line,
)
from intarsia.infill.replacement import Replacement
from intarsia.infill.syntax.nodes import node_text
from intarsia.infill.syntax.parse import Syntax

_ORDERS: Sequence[Order] = (
    lambda line: ".".join(line.path),
    lambda line: line.path,
    lambda line: ".".join(line.path).lower(),
)


def place_java(syntax: Syntax, binding: ImportBinding, at: int) -> Replacement | None:
    """Return the splice that adds an import."""
    text, root = syntax.text, syntax.tree.root_node
    is_static = binding.form == "static"
    path = f"{binding.module}.{binding.name}"
    statement = f"import {'static ' if is_static else ''}{path};"
    lines = [_line(syntax, it) for it in root.named_children if it.type == "import_declaration"]
    if lines:
        new = ImportLine(path=tuple(path.split(".")), category=int(is_static))
        return place_line(text, lines, new, statement, _ORDERS)
    package = next((it for it in root.named_children if it.type == "package_declaration"), None)
    if package is not None:
        return after_line(text, syntax.offset_at(package.end_byte), statement, num_ends=2)
    return before_line(text, head_end(syntax), statement, num_ends=2)


def _line(syntax: Syntax, node: tree_sitter.Node) -> ImportLine:
    words = node_text(node).removeprefix("import").strip(" ;").split()
    path = words[-1].split(".") if words else ()
    return import_line(syntax, node, path, int(words[:1] == ["static"]))
