"""Writes an import into a file of JavaScript or TypeScript, as a module or for CommonJS."""

import re
from collections.abc import Sequence

import tree_sitter

from intarsia.infill.imports.binding import DEFAULT, ImportBinding
from intarsia.infill.imports.import_lines import (
    ImportLine,
    Order,
    add_to_list,
    before_line,
    head_end,
    import_line,
    place_line,
)
from intarsia.infill.replacement import Replacement
from intarsia.infill.syntax.tree import Syntax, node_text

_PACKAGE, _RELATIVE = range(2)
_PATTERNS = ("shorthand_property_identifier_pattern", "pair_pattern")
_INLINE_TYPE = re.compile(r"[{,]\s*type\s+\w")
_TIGHT = re.compile(r"^\s*import\b[^\n]*\{\w", re.MULTILINE)
_SEMICOLON = re.compile(r";[ \t]*$", re.MULTILINE)
_ORDERS: Sequence[Order] = ()  # few projects sort these: a new one goes to its like


def place_ecmascript(syntax: Syntax, binding: ImportBinding, at: int) -> Replacement | None:
    """Return the replacement that adds an import; ``at`` is not used."""
    is_require = binding.form == "require"
    nodes = [node for node in syntax.tree.root_node.named_children if _module(node, is_require)]
    for node in nodes:
        if _module(node, is_require) == binding.module:
            merged = _merged(syntax, node, binding)
            if merged is not None:
                return merged
    statement = _statement(syntax, binding, nodes)
    if not nodes:
        return before_line(syntax.text, head_end(syntax), statement, num_ends=2)
    modules = [(node, _module(node, is_require)) for node in nodes]
    lines = [import_line(syntax, it, name.split("/"), _category(name)) for it, name in modules]
    new = ImportLine(path=tuple(binding.module.split("/")), category=_category(binding.module))
    return place_line(syntax.text, lines, new, statement, _ORDERS, has_groups=False)


def _module(node: tree_sitter.Node, is_require: bool) -> str:
    """Return the module of an import, "" for any other statement."""
    if not is_require:
        source = node.child_by_field_name("source") if node.type == "import_statement" else None
        return node_text(source)[1:-1] if source is not None else ""
    if node.type not in ("lexical_declaration", "variable_declaration"):
        return ""
    declarator = node.named_child(0)
    call = None if declarator is None else declarator.child_by_field_name("value")
    if call is None or call.type != "call_expression":
        return ""
    function, arguments = (call.child_by_field_name(it) for it in ("function", "arguments"))
    if function is None or arguments is None or node_text(function) != "require":
        return ""
    first = arguments.named_child(0)
    return node_text(first)[1:-1] if first is not None and first.type == "string" else ""


def _merged(syntax: Syntax, node: tree_sitter.Node, binding: ImportBinding) -> Replacement | None:
    """Add a name to a statement with the same module, None where it cannot be."""
    if binding.form == "require":
        names = _descendants(node, "object_pattern", _PATTERNS)
        return add_to_list(syntax, names, _item(binding)) if names and binding.name else None
    is_type_only = any(child.type == "type" for child in node.children)
    if not binding.name or is_type_only != (binding.form == "type" and is_type_only):
        return None
    if binding.form == "type" and not is_type_only and _TYPE_STATEMENT.search(syntax.text):
        return None  # the file has types in statements of their own
    names = _descendants(node, "named_imports", ("import_specifier",))
    clause = next((it for it in node.named_children if it.type == "import_clause"), None)
    if binding.name == DEFAULT:
        return _with_default(syntax, clause, binding) if names and not is_type_only else None
    item = _item(binding)
    if binding.form == "type" and not is_type_only and _INLINE_TYPE.search(syntax.text):
        item = f"type {item}"
    if names:
        return add_to_list(syntax, names, item)
    if clause is None or is_type_only or clause.named_child_count != 1:
        return None
    if (default := clause.named_child(0)) is None or default.type != "identifier":
        return None
    end = syntax.offset_at(default.end_byte)
    return Replacement(start=end, end=end, new=f", {_braced(syntax, item)}")


_TYPE_STATEMENT = re.compile(r"^import type\b", re.MULTILINE)


def _with_default(
    syntax: Syntax, clause: tree_sitter.Node | None, binding: ImportBinding
) -> Replacement | None:
    first = None if clause is None else clause.named_child(0)
    if first is None or first.type != "named_imports":
        return None  # it has a default import already
    start = syntax.offset_at(first.start_byte)
    return Replacement(start=start, end=start, new=f"{binding.local}, ")


def _descendants(
    node: tree_sitter.Node, list_type: str, types: Sequence[str]
) -> list[tree_sitter.Node]:
    """Return the named children of some types in the first list of a type."""
    found = [node]
    while found:
        one = found.pop()
        if one.type == list_type:
            return [child for child in one.named_children if child.type in types]
        found += reversed(one.named_children)
    return []


def _category(module: str) -> int:
    return _RELATIVE if module.startswith((".", "@/", "~/", "#")) else _PACKAGE


def _statement(syntax: Syntax, binding: ImportBinding, nodes: Sequence[tree_sitter.Node]) -> str:
    source = _quoted(syntax, binding.module, nodes)
    end = ";" if _has_semicolons(syntax, nodes) else ""
    if binding.form == "require":
        target = _braced(syntax, _item(binding)) if binding.name else binding.local
        return f"{_keyword(nodes)} {target} = require({source}){end}"
    has_statements = _TYPE_STATEMENT.search(syntax.text) is not None
    begins_with_type = binding.form == "type" and (
        has_statements or not _INLINE_TYPE.search(syntax.text)
    )
    word = "import type" if begins_with_type else "import"
    if binding.name == DEFAULT:
        target = binding.local
    elif not binding.name:
        target = f"* as {binding.local}"
    else:
        target = _braced(syntax, _item(binding))
    return f"{word} {target} from {source}{end}"


def _keyword(nodes: Sequence[tree_sitter.Node]) -> str:
    words = [node_text(node).split(None, 1)[0] for node in nodes]
    return words[-1] if words else "const"


def _item(binding: ImportBinding) -> str:
    if binding.local == binding.name:
        return binding.name
    separator = ": " if binding.form == "require" else " as "
    return f"{binding.name}{separator}{binding.local}"


def _braced(syntax: Syntax, item: str) -> str:
    return f"{{{item}}}" if _TIGHT.search(syntax.text) else f"{{ {item} }}"


def _quoted(syntax: Syntax, module: str, nodes: Sequence[tree_sitter.Node]) -> str:
    sample = " ".join(node_text(node) for node in nodes) or syntax.text
    quote = "'" if sample.count("'") > sample.count('"') else '"'
    return f"{quote}{module}{quote}"


def _has_semicolons(syntax: Syntax, nodes: Sequence[tree_sitter.Node]) -> bool:
    if nodes:
        return node_text(nodes[-1]).endswith(";")
    return not syntax.text.strip() or _SEMICOLON.search(syntax.text) is not None
