"""Reads what a Python file defines and imports at its top level, and finds an imported file.

Only files of the same package are found. Nothing is imported or run.
"""

from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

import tree_sitter

from intarsia_research.holes.module import Module, NameFrom

IMPORTS = frozenset({"import_statement", "import_from_statement", "future_import_statement"})
"""The statements in which a name is no use of it."""

_AROUND_STATEMENTS = frozenset(
    {
        *("if_statement", "elif_clause", "else_clause", "try_statement", "except_clause"),
        *("finally_clause", "with_statement", "block", "expression_statement"),
        *("decorated_definition",),
    }
)
_DEFINITIONS = frozenset({"function_definition", "class_definition"})
_NOT_A_USE = frozenset(
    {
        *(("attribute", "attribute"), ("keyword_argument", "name")),
        *(("function_definition", "name"), ("class_definition", "name")),
    }
)
_BINDINGS = frozenset(
    {
        *(("function_definition", "name"), ("class_definition", "name"), ("assignment", "left")),
        *(("default_parameter", "name"), ("typed_default_parameter", "name")),
        *(("for_statement", "left"), ("for_in_clause", "left"), ("named_expression", "name")),
        *(("as_pattern", "alias"), ("aliased_import", "alias")),
    }
)
_BINDING_PARENTS = frozenset({"parameters", "lambda_parameters", "typed_parameter"})


def read_python(root: tree_sitter.Node) -> Module:
    """Return the definitions and imports of a parsed file."""
    definitions: set[str] = set()
    imports: list[NameFrom] = []
    stars: list[str] = []
    for node in _statements(root):
        if node.type in _DEFINITIONS:
            definitions.add(_text(node.child_by_field_name("name")))
        elif node.type == "assignment" or node.type == "type_alias_statement":
            definitions.add(_text(node.child_by_field_name("left")))
        elif node.type == "import_from_statement":
            module = _text(node.child_by_field_name("module_name"))
            imports += _names(node, module)
            stars += [module for child in node.children if child.type == "wildcard_import"]
    return Module(
        definitions=frozenset(definitions),
        imports=tuple(imports),
        exports=tuple(imports),
        stars=tuple(stars),
    )


def python_file(path: str, module: str, files: Collection[str]) -> str | None:
    """Return the file that a module name means in the file at ``path``, None if it is not here.

    An absolute name is looked up from every folder above the file, nearest first.
    """
    name = module.lstrip(".")
    num_dots = len(module) - len(name)
    parents = list(PurePosixPath(path).parents)
    starts = parents[num_dots - 1 : num_dots] if num_dots else parents
    for start in starts:
        found = start.joinpath(*name.split(".")) if name else start
        for file in (f"{found}.py", f"{found / '__init__'}.py"):
            if file.removeprefix("./") in files:
                return file.removeprefix("./")
    return None


def is_python_use(node: tree_sitter.Node) -> bool:
    """Whether an identifier refers to a name of the module: no attribute, no keyword, no import."""
    return node.type == "identifier" and not _is_field(node, _NOT_A_USE)


def is_python_binding(node: tree_sitter.Node) -> bool:
    """Whether an identifier gets a meaning of its own here, such as a parameter."""
    parent = node.parent
    return _is_field(node, _BINDINGS) or (
        parent is not None
        and parent.type in _BINDING_PARENTS
        and parent.child_by_field_name("type") != node
    )


def _statements(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    for child in node.named_children:
        yield child
        if child.type in _AROUND_STATEMENTS:
            yield from _statements(child)


def _names(node: tree_sitter.Node, module: str) -> Iterator[NameFrom]:
    for child in node.children_by_field_name("name"):
        if child.type == "aliased_import":
            name = _text(child.child_by_field_name("name"))
            yield NameFrom(
                module=module, name=name, local=_text(child.child_by_field_name("alias"))
            )
        else:
            yield NameFrom(module=module, name=_text(child), local=_text(child))


def _is_field(node: tree_sitter.Node, fields: frozenset[tuple[str, str]]) -> bool:
    parent = node.parent
    return parent is not None and any(
        parent.type == kind and parent.child_by_field_name(field) == node for kind, field in fields
    )


def _text(node: tree_sitter.Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")
