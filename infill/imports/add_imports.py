"""Adds imports to a file: the edits that bring names into it, in the file's own style."""

from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, TypeAlias

import tree_sitter

from intarsia.infill.imports.binding import ImportBinding, is_plain, package_name, shown
from intarsia.infill.imports.ecmascript_imports import place_ecmascript
from intarsia.infill.imports.import_lines import (
    ImportLine,
    Order,
    adds_one_import,
    after_line,
    before_line,
    head_end,
    import_line,
    num_alike,
    place_line,
)
from intarsia.infill.imports.python_imports import place_python
from intarsia.infill.imports.rust_imports import place_rust
from intarsia.infill.imports.unbound import is_bound
from intarsia.infill.languages import ImportStyle, Language
from intarsia.infill.replacement import Replacement, with_replaced
from intarsia.infill.syntax.text import newline_of
from intarsia.infill.syntax.tree import Syntax, node_text, num_errors, parse


def import_edits(
    text: str, bindings: Sequence[ImportBinding], at: int, language: Language
) -> tuple[Replacement, ...]:
    """Return the edits that import these names for code at an offset, in order.

    () where one has no plain name or cannot be placed, where an edit would change more than one
    import, and where the text would parse worse than before.
    """
    before = parse(text, language)
    if (
        language.imports is None
        or before is None
        or not all(is_plain(it, language) for it in bindings)
    ):
        return ()
    place = _PLACES[language.imports.style]
    syntax = before
    for binding in bindings:
        # One part of Python's ``a.b`` that is known is not enough.
        if "." not in binding.local and is_bound(syntax, binding.local, at):
            continue
        found = place(syntax, binding, at)
        after = None if found is None else parse(with_replaced(syntax.text, [found]), language)
        if found is None or after is None or not adds_one_import(syntax, after):
            return ()
        syntax = after
        at += found.growth if found.end <= at else 0
    if num_errors(syntax) > num_errors(before):
        return ()
    return _line_edits(text, syntax.text)


def _line_edits(old: str, new: str) -> tuple[Replacement, ...]:
    """Return the difference of two texts in whole lines, so that no other line is touched."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    num_same = num_alike(before, after)
    num_tail = num_alike(before[num_same:][::-1], after[num_same:][::-1])
    before_mid = before[num_same : len(before) - num_tail]
    after_mid = after[num_same : len(after) - num_tail]
    starts = [sum(map(len, before[:num_same]))]
    for line in before_mid:
        starts.append(starts[-1] + len(line))
    matcher = SequenceMatcher(None, before_mid, after_mid, autojunk=False)
    return tuple(
        Replacement(start=starts[first], end=starts[last], new="".join(after_mid[low:high]))
        for tag, first, last, low, high in matcher.get_opcodes()
        if tag != "equal"
    )


def _by_path(line: ImportLine) -> Any:
    return "/".join(line.path)


_GO_ORDERS: Sequence[Order] = (_by_path,)


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
        lines = [_go_line(syntax, it) for it in lists[0].named_children if it.type == "import_spec"]
        if not lines:
            newline = newline_of(text)
            start, end = (syntax.offset_at(it) for it in lists[0].byte_range)
            return Replacement(start=start, end=end, new=f"({newline}\t{spec}{newline})")
        return place_line(text, lines, _new_go_line(binding), f"\t{spec}", _GO_ORDERS)
    if len(nodes) > 1:
        return after_line(text, syntax.offset_at(nodes[-1].end_byte), f"import {spec}")
    if nodes:
        return _as_block(syntax, nodes[0], binding)
    package = next((it for it in root.named_children if it.type == "package_clause"), None)
    if package is None:
        return None
    return after_line(text, syntax.offset_at(package.end_byte), f"import {spec}", num_ends=2)


def _as_block(syntax: Syntax, node: tree_sitter.Node, binding: ImportBinding) -> Replacement | None:
    """Make a block of a single import and the new one."""
    spec = next((it for it in node.named_children if it.type == "import_spec"), None)
    if spec is None:
        return None
    newline = newline_of(syntax.text)
    old, new = _go_line(syntax, spec), _new_go_line(binding)
    both = sorted(
        [(old, node_text(spec)), (new, _spec(binding))],
        key=lambda it: (it[0].category, _by_path(it[0])),
    )
    gap = newline if old.category != new.category else ""
    body = f"\t{both[0][1]}{newline}{gap}\t{both[1][1]}{newline}"
    return Replacement(start=old.start, end=old.end, new=f"({newline}{body})")


def _go_line(syntax: Syntax, spec: tree_sitter.Node) -> ImportLine:
    path = spec.child_by_field_name("path")
    module = "" if path is None else node_text(path).strip('"`')
    return import_line(syntax, spec, module.split("/"), _go_category(module))


def _new_go_line(binding: ImportBinding) -> ImportLine:
    module = binding.module
    return ImportLine(path=tuple(module.split("/")), category=_go_category(module))


def _go_category(module: str) -> int:
    """Return 0 for the standard library: only its paths have no dot in their first part."""
    return int("." in module.split("/", maxsplit=1)[0])


def _spec(binding: ImportBinding) -> str:
    is_named = binding.local == package_name(binding.module)
    return f'"{binding.module}"' if is_named else f'{binding.local} "{binding.module}"'


_JAVA_ORDERS: Sequence[Order] = (
    lambda line: ".".join(line.path),
    lambda line: line.path,
    lambda line: ".".join(line.path).lower(),
)


def place_java(syntax: Syntax, binding: ImportBinding, at: int) -> Replacement | None:
    text, root = syntax.text, syntax.tree.root_node
    is_static = binding.form == "static"
    path = f"{binding.module}.{binding.name}"
    statement = f"{shown(binding, syntax.language)};"
    lines = [
        _java_line(syntax, it) for it in root.named_children if it.type == "import_declaration"
    ]
    if lines:
        new = ImportLine(path=tuple(path.split(".")), category=int(is_static))
        return place_line(text, lines, new, statement, _JAVA_ORDERS)
    package = next((it for it in root.named_children if it.type == "package_declaration"), None)
    if package is not None:
        return after_line(text, syntax.offset_at(package.end_byte), statement, num_ends=2)
    return before_line(text, head_end(syntax), statement, num_ends=2)


def _java_line(syntax: Syntax, node: tree_sitter.Node) -> ImportLine:
    words = node_text(node).removeprefix("import").strip(" ;").split()
    path = words[-1].split(".") if words else ()
    return import_line(syntax, node, path, int(words[:1] == ["static"]))


_Place: TypeAlias = Callable[[Syntax, ImportBinding, int], Replacement | None]

_PLACES: Mapping[ImportStyle, _Place] = {
    "from": place_python,
    "braces": place_ecmascript,
    "quoted": place_go,
    "dotted": place_java,
    "use": place_rust,
}
