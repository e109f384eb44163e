"""Writes an import into a Rust file, or into the inline module that needs it."""

import re
from collections.abc import Sequence

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
from intarsia.infill.syntax.text import leading_blank, line_at, newline_of
from intarsia.infill.syntax.tree import Syntax, node_text, nodes_at

_STANDARD = ("std", "core", "alloc")
_OWN = ("crate", "self", "super")
_LISTS = re.compile(r"^\s*(?:pub\s+)?use\s[^;]*\{", re.MULTILINE)
_ARGUMENT = re.compile(r"\s*use\s+(.*?);", re.DOTALL)


_ORDERS: Sequence[Order] = (
    lambda line: [(part[:1].isupper(), part) for part in line.path],
    lambda line: "::".join(line.path),
)


def place_rust(syntax: Syntax, binding: ImportBinding, at: int) -> Replacement | None:
    """Return the splice that adds an import to the innermost module around ``at``."""
    modules = [it for it in nodes_at(syntax, at) if it.type == "mod_item"]
    inner = modules[-1].child_by_field_name("body") if modules else None
    body = inner or syntax.tree.root_node
    nodes = _declarations(body)
    item = binding.name if binding.local == binding.name else f"{binding.name} as {binding.local}"
    for node in nodes:
        if (merged := _merged(syntax, node, binding.module, item)) is not None:
            return merged
    text = syntax.text
    statement = f"{shown(binding, syntax.language)};"
    lines = [_line(syntax, node) for node in nodes]
    if lines:
        indent = leading_blank(line_at(text, lines[0].start))
        path = (*binding.module.split("::"), binding.name)
        new = ImportLine(path=path, category=_category(path[0]))
        return place_line(text, lines, new, indent + statement, _ORDERS)
    if body.type == "source_file":
        return _first_of_file(syntax, statement)
    return _first_of_module(syntax, body, statement)


def _declarations(body: tree_sitter.Node) -> list[tree_sitter.Node]:
    """Return the plain ``use`` declarations: not public, and under no attribute."""
    found, is_marked = [], False
    for node in body.named_children:
        if node.type == "use_declaration" and not is_marked:
            first = node.named_child(0)
            if first is not None and first.type != "visibility_modifier":
                found.append(node)
        is_marked = node.type == "attribute_item"
    return found


def _merged(syntax: Syntax, node: tree_sitter.Node, module: str, item: str) -> Replacement | None:
    argument = node.child_by_field_name("argument")
    path = None if argument is None else argument.child_by_field_name("path")
    if argument is None or path is None or "".join(node_text(path).split()) != module:
        return None
    if argument.type == "scoped_use_list":
        listed = argument.child_by_field_name("list")
        names = [] if listed is None else [it for it in listed.named_children]
        return add_to_list(syntax, names, item) if names else None
    if argument.type != "scoped_identifier" or b"{" not in syntax.data:
        return None
    name = argument.child_by_field_name("name")
    if name is None or not _LISTS.search(syntax.text):
        return None
    both = sorted([node_text(name), item])
    return Replacement(
        start=syntax.offset_at(name.start_byte),
        end=syntax.offset_at(name.end_byte),
        new="{" + ", ".join(both) + "}",
    )


def _line(syntax: Syntax, node: tree_sitter.Node) -> ImportLine:
    match = _ARGUMENT.match(node_text(node))
    path = (match[1] if match else "").partition("{")[0].rstrip(":").split("::")
    return import_line(syntax, node, [it.strip() for it in path], _category(path[0].strip()))


def _category(root: str) -> int:
    return 0 if root in _STANDARD else 2 if root in _OWN else 1


def _first_of_file(syntax: Syntax, statement: str) -> Replacement:
    """Put the first ``use`` after inner attributes, documentation and ``extern crate``."""
    text = syntax.text
    crates = [
        it for it in syntax.tree.root_node.named_children if it.type == "extern_crate_declaration"
    ]
    if crates:
        return after_line(text, syntax.offset_at(crates[-1].end_byte), statement, num_ends=2)
    return before_line(text, head_end(syntax), statement, num_ends=2)


def _first_of_module(syntax: Syntax, body: tree_sitter.Node, statement: str) -> Replacement:
    text, newline = syntax.text, newline_of(syntax.text)
    children = body.named_children
    start = syntax.offset_at(body.start_byte) + 1
    if not children:
        return Replacement(start=start, end=start, new=f"{newline}    {statement}{newline}")
    indent = leading_blank(line_at(text, syntax.offset_at(children[0].start_byte)))
    return Replacement(start=start, end=start, new=f"{newline}{indent}{statement}{newline}")
