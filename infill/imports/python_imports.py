"""Writes an import into a Python file."""

import sys
from collections.abc import Sequence
from dataclasses import replace

import tree_sitter

from intarsia.infill.imports.binding import ImportBinding, shown
from intarsia.infill.imports.import_lines import (
    ImportLine,
    Order,
    add_to_list,
    after_line,
    before_line,
    head_end,
    import_line,
    place_line,
)
from intarsia.infill.replacement import Replacement
from intarsia.infill.syntax.text import line_at, newline_of, next_line_start
from intarsia.infill.syntax.tree import Syntax, node_text

MAX_COLUMNS = 88
"""A longer import is broken, unless the file has longer lines among its imports."""

_FUTURE, _STANDARD, _OTHER, _RELATIVE = range(4)
_TYPES = ("import_statement", "import_from_statement", "future_import_statement")
_ENDS = ("function_definition", "class_definition", "decorated_definition")


_ORDERS: Sequence[Order] = (
    lambda line: (line.is_from, [part.lower() for part in line.path]),
    lambda line: (line.is_from, line.path),
    lambda line: [part.lower() for part in line.path],
    lambda line: (not line.is_from, [part.lower() for part in line.path]),
)


def place_python(syntax: Syntax, binding: ImportBinding, at: int) -> Replacement | None:
    """Return the splice that adds an import; ``at`` is not used: Python has one scope for it."""
    nodes = _statements(syntax)
    same = [node for node in nodes if _is_from(node, binding)]
    if len(same) == 1 and binding.name and (names := same[0].children_by_field_name("name")):
        return _merged(syntax, same[0], names, binding, nodes)
    statement = shown(binding, syntax.language)
    lines = [_line(syntax, node) for node in nodes]
    if lines:
        module, is_from = binding.module, bool(binding.name)
        path = tuple(module.split("."))
        new = ImportLine(path=path, category=_category(module), is_from=is_from)
        return place_line(syntax.text, lines, new, statement, _ORDERS)
    return _first(syntax, statement)


def _statements(syntax: Syntax) -> list[tree_sitter.Node]:
    """Return the imports of the file itself, up to its first definition."""
    found = []
    for node in syntax.tree.root_node.named_children:
        if node.type in _ENDS:
            break
        if node.type in _TYPES:
            found.append(node)
    return found


def _is_from(node: tree_sitter.Node, binding: ImportBinding) -> bool:
    module = node.child_by_field_name("module_name")
    return module is not None and node_text(module) == binding.module


def _merged(
    syntax: Syntax,
    node: tree_sitter.Node,
    names: Sequence[tree_sitter.Node],
    binding: ImportBinding,
    nodes: Sequence[tree_sitter.Node],
) -> Replacement:
    """Add a name to a statement; a line that gets too long is broken at each name."""
    item = binding.name + (f" as {binding.local}" if binding.local != binding.name else "")
    splice = add_to_list(syntax, names, item)
    text = syntax.text
    start, end = syntax.offset_at(node.start_byte), syntax.offset_at(node.end_byte)
    longest = max(len(line_at(text, syntax.offset_at(it.start_byte))) for it in nodes)
    length = len(text[start:end]) + len(splice.new)
    if "(" in text[start:end] or length <= max(MAX_COLUMNS, longest):
        return splice
    first = syntax.offset_at(names[0].start_byte)
    listed = text[first : splice.start] + splice.new + text[splice.end : end]
    newline = newline_of(text)
    items = "".join(f"    {item.strip()},{newline}" for item in listed.split(","))
    return Replacement(start=first, end=end, new=f"({newline}{items})")


def _first(syntax: Syntax, statement: str) -> Replacement:
    """Put the first import after the docstring, or after the comments at the file's head."""
    text, root = syntax.text, syntax.tree.root_node
    code = [node for node in root.named_children if node.type != "comment"]
    first = code[0].named_child(0) if code and code[0].type == "expression_statement" else None
    if first is not None and first.type == "string":
        end = syntax.offset_at(code[0].end_byte)
        found = after_line(text, end, statement, num_ends=2)
        is_crowded = bool(line_at(text, next_line_start(text, end)).strip())
        return replace(found, new=found.new + newline_of(text)) if is_crowded else found
    at = head_end(syntax)
    following = next((it for it in code if syntax.offset_at(it.start_byte) >= at), None)
    is_definition = following is not None and following.type in _ENDS
    if not text[at:].strip():
        return Replacement(start=at, end=at, new=statement + newline_of(text))
    return before_line(text, at, statement, num_ends=3 if is_definition else 2)


def _line(syntax: Syntax, node: tree_sitter.Node) -> ImportLine:
    if node.type == "future_import_statement":
        module = "__future__"
    else:
        named = node.child_by_field_name("module_name") or node.child_by_field_name("name")
        if named is not None and named.type == "aliased_import":
            named = named.child_by_field_name("name")
        module = "" if named is None else node_text(named)
    line = import_line(syntax, node, module.split("."), _category(module))
    return replace(line, is_from=node.type != "import_statement")


def _category(module: str) -> int:
    if module.startswith("."):
        return _RELATIVE
    if module == "__future__":
        return _FUTURE
    return _STANDARD if module.split(".", maxsplit=1)[0] in sys.stdlib_module_names else _OTHER
