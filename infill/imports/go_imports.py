"""Writes an import into a Go file."""

from collections.abc import Sequence
from typing import Any

import tree_sitter

from intarsia.infill.imports.binding import ImportBinding, package_name
from intarsia.infill.imports.import_lines import (
    ImportLine,
    Order,
    after_line,
    import_line,
    place_line,
)
from intarsia.infill.replacement import Replacement
from intarsia.infill.syntax.lines import newline_of
from intarsia.infill.syntax.nodes import node_text
from intarsia.infill.syntax.parse import Syntax


def _by_path(line: ImportLine) -> Any:
    return "/".join(line.path)


_ORDERS: Sequence[Order] = (_by_path,)


def place_go(syntax: Syntax, binding: ImportBinding, at: int) -> Replacement | None:
    """Return the splice that adds an import, None for a file without a package clause."""
    text, root = syntax.text, syntax.tree.root_node
    nodes = [it for it in root.named_children if it.type == "import_declaration"]
    nodes = [it for it in nodes if b'"C"' not in (it.text or b"")]
    lists = [
        child for it in nodes for child in it.named_children if child.type == "import_spec_list"
    ]
    spec = _spec(binding)
    if lists:
        lines = [_line(syntax, it) for it in lists[0].named_children if it.type == "import_spec"]
        if not lines:
            return _into_empty(syntax, lists[0], spec)
        return place_line(text, lines, _new_line(binding), f"\t{spec}", _ORDERS)
    if len(nodes) > 1:
        return after_line(text, syntax.offset_at(nodes[-1].end_byte), f"import {spec}")
    if nodes:
        return _as_block(syntax, nodes[0], binding)
    package = next((it for it in root.named_children if it.type == "package_clause"), None)
    if package is None:
        return None
    return after_line(text, syntax.offset_at(package.end_byte), f"import {spec}", num_ends=2)


def _into_empty(syntax: Syntax, listed: tree_sitter.Node, spec: str) -> Replacement:
    newline = newline_of(syntax.text)
    return Replacement(
        start=syntax.offset_at(listed.start_byte),
        end=syntax.offset_at(listed.end_byte),
        new=f"({newline}\t{spec}{newline})",
    )


def _as_block(syntax: Syntax, node: tree_sitter.Node, binding: ImportBinding) -> Replacement | None:
    """Make a block of a single import and the new one."""
    spec = next((it for it in node.named_children if it.type == "import_spec"), None)
    if spec is None:
        return None
    newline = newline_of(syntax.text)
    old, new = _line(syntax, spec), _new_line(binding)
    both = sorted(
        [
            (old.category, _by_path(old), node_text(spec)),
            (new.category, _by_path(new), _spec(binding)),
        ],
        key=lambda it: it[:2],
    )
    gap = newline if old.category != new.category else ""
    body = f"\t{both[0][2]}{newline}{gap}\t{both[1][2]}{newline}"
    return Replacement(start=old.start, end=old.end, new=f"({newline}{body})")


def _line(syntax: Syntax, spec: tree_sitter.Node) -> ImportLine:
    path = spec.child_by_field_name("path")
    module = "" if path is None else node_text(path).strip('"`')
    return import_line(syntax, spec, module.split("/"), _category(module))


def _new_line(binding: ImportBinding) -> ImportLine:
    module = binding.module
    return ImportLine(path=tuple(module.split("/")), category=_category(module))


def _category(module: str) -> int:
    """Return 0 for the standard library: only its paths have no dot in their first part."""
    return int("." in module.split("/", maxsplit=1)[0])


def _spec(binding: ImportBinding) -> str:
    is_named = binding.local == package_name(binding.module)
    return f'"{binding.module}"' if is_named else f'{binding.local} "{binding.module}"'
