"""Finds where a name is bound, and how far what is bound is seen. Offsets are bytes."""

from collections.abc import Sequence
from typing import TypeAlias

import tree_sitter

from intarsia.infill.languages import NameRules

Chain: TypeAlias = Sequence[tree_sitter.Node]
"""A node after all that it is in, the root first."""

_MAX_SIBLINGS = 200
_AS = "as_pattern"  # of Python: its first part is a value, or a pattern of its own
_PATH_OF_LIST = "scoped_use_list.path"
_GLOB_OF_PARENT = b"super::*"


def scope_of_binding(chain: Chain, rules: NameRules) -> tree_sitter.Node | None:
    """Return where the name at the end of a chain is seen, None if it is not bound there."""
    at = len(chain) - 1
    while at > 0:
        place = place_in(chain[at - 1], chain[at])
        if place == _AS and is_first(chain[at - 1], chain[at]):
            return None
        if place in rules.bindings or place in rules.own_names:
            above = chain[: at - 1] if place in rules.own_names else chain[:at]
            return _innermost_scope(above, rules) or chain[0]
        is_passed = place in rules.patterns and place != "tuple_struct_pattern.type"
        if not is_passed or (place == _PATH_OF_LIST and not _has_self(chain[at - 1])):
            return None
        at -= 1
    return None


def is_seen(scope: tree_sitter.Node, use: Chain, at: int) -> bool:
    """Whether what is bound in a scope is seen at a use, which begins at a byte."""
    if scope.parent is not None and not scope.start_byte <= at < scope.end_byte:
        return False
    below = [it for it in use if it.start_byte >= scope.start_byte and it.id != scope.id]
    below = [it for it in below if it.end_byte <= scope.end_byte]
    if scope.type == "class_definition":  # of Python: methods do not see the names of the class
        return not any(_is_in_body_of_function(it, at) for it in below)
    modules = [it for it in below if it.type == "mod_item"]
    return not modules or _GLOB_OF_PARENT in (modules[-1].text or b"")


def place_in(parent: tree_sitter.Node, node: tree_sitter.Node) -> str:
    """Return the place of a node: its parent's type, with its field there if it has one."""
    for number, child in enumerate(parent.children[:_MAX_SIBLINGS]):
        if child.id == node.id:
            field = parent.field_name_for_child(number)
            return f"{parent.type}.{field}" if field else parent.type
    return parent.type


def is_first(parent: tree_sitter.Node, node: tree_sitter.Node) -> bool:
    """Whether a node is the first of its parent's that has a name in the grammar."""
    return first_named(parent) == node


def first_named(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """Return the first child that has a name in the grammar; ``named_child(0)`` may raise."""
    return next(iter(node.named_children), None)


def _has_self(listed: tree_sitter.Node) -> bool:
    """Whether a ``use`` of Rust has ``self`` in its list, which is the module itself."""
    names = listed.child_by_field_name("list")
    return names is not None and any(it.type == "self" for it in names.named_children)


def _innermost_scope(above: Chain, rules: NameRules) -> tree_sitter.Node | None:
    is_var = len(above) > 1 and above[-2].type == "variable_declaration"
    left = rules.blocks if is_var else ()
    return next(
        (it for it in reversed(above) if it.type in rules.scopes and it.type not in left), None
    )


def _is_in_body_of_function(node: tree_sitter.Node, at: int) -> bool:
    if node.type != "function_definition":
        return False
    body = node.child_by_field_name("body")
    return body is not None and body.start_byte <= at < body.end_byte
