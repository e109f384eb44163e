"""Reads what a TypeScript file defines, imports and passes on, and finds an imported file.

Only relative imports are followed: other names need a build's settings. Nothing is run.
"""

import posixpath
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

import tree_sitter

from intarsia_research.holes.module import Module, NameFrom

IMPORTS = frozenset({"import_statement", "export_clause", "import_alias"})
"""The nodes in which a name is no use of it."""

_WITH_NAME = frozenset(
    {
        *("function_declaration", "generator_function_declaration", "class_declaration"),
        *("abstract_class_declaration", "interface_declaration", "type_alias_declaration"),
        *("enum_declaration", "function_signature"),
    }
)
_VARIABLES = frozenset({"lexical_declaration", "variable_declaration"})
_USES = frozenset({"identifier", "type_identifier"})
_BINDING_FIELDS = frozenset({"name", "pattern", "parameter", "left"})
_BINDING_PARENTS = frozenset(
    {
        *_WITH_NAME,
        *("variable_declarator", "required_parameter", "optional_parameter", "arrow_function"),
        *("type_parameter", "catch_clause", "for_in_statement", "array_pattern", "pair_pattern"),
    }
)
_WRITTEN_SUFFIXES = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".mts")
_FOUND_SUFFIXES = (".ts", ".tsx", ".mts", "/index.ts", "/index.tsx")


def read_typescript(root: tree_sitter.Node) -> Module:
    """Return the definitions, imports and passed-on names of a parsed file."""
    definitions: set[str] = set()
    imports: list[NameFrom] = []
    exports: list[NameFrom] = []
    stars: list[str] = []
    for node in root.named_children:
        source = _source(node)
        if node.type == "import_statement" and source is not None:
            imports += _names(node, source, "import_specifier")
        elif node.type == "export_statement" and source is not None:
            exports += _names(node, source, "export_specifier")
            is_all = any(child.type == "*" for child in node.children)
            stars += [source] if is_all else []
        else:
            declared = node.child_by_field_name("declaration")
            definitions.update(_declared(node if declared is None else declared))
    passed_on = {name.local for name in exports}
    exports += [name for name in imports if name.local not in passed_on]
    return Module(
        definitions=frozenset(definitions),
        imports=tuple(imports),
        exports=tuple(exports),
        stars=tuple(stars),
    )


def typescript_file(path: str, module: str, files: Collection[str]) -> str | None:
    """Return the file that a relative module name means, None for any other name."""
    if not module.startswith("."):
        return None
    joined = posixpath.normpath(posixpath.join(PurePosixPath(path).parent.as_posix(), module))
    plain = next((joined.removesuffix(s) for s in _WRITTEN_SUFFIXES if joined.endswith(s)), joined)
    return next((file for s in _FOUND_SUFFIXES if (file := plain + s) in files), None)


def is_typescript_use(node: tree_sitter.Node) -> bool:
    """Whether a node refers to a value or a type of the module, not to a property."""
    return node.type in _USES and not is_typescript_binding(node)


def is_typescript_binding(node: tree_sitter.Node) -> bool:
    """Whether an identifier gets a meaning of its own here, such as a parameter."""
    parent = node.parent
    if node.type == "shorthand_property_identifier_pattern":
        return True
    return (
        parent is not None
        and parent.type in _BINDING_PARENTS
        and any(parent.child_by_field_name(field) == node for field in _BINDING_FIELDS)
    )


def _declared(node: tree_sitter.Node) -> Iterator[str]:
    if node.type in _WITH_NAME:
        yield _text(node.child_by_field_name("name"))
    elif node.type in _VARIABLES:
        for child in node.named_children:
            name = child.child_by_field_name("name")
            if name is not None and name.type == "identifier":
                yield _text(name)


def _names(node: tree_sitter.Node, source: str, kind: str) -> Iterator[NameFrom]:
    """Yield the names of the specifiers anywhere within the statement."""
    for child in node.named_children:
        if child.type == kind:
            name = _text(child.child_by_field_name("name"))
            alias = child.child_by_field_name("alias")
            yield NameFrom(module=source, name=name, local=_text(alias) or name)
        elif child.type in ("import_clause", "named_imports", "export_clause"):
            yield from _names(child, source, kind)


def _source(node: tree_sitter.Node) -> str | None:
    source = node.child_by_field_name("source")
    return None if source is None else _text(source).strip("'\"")


def _text(node: tree_sitter.Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")
