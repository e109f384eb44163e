"""Tells whether two versions of a file differ by one import and nothing else."""

from collections.abc import Sequence

import tree_sitter

from intarsia.infill.imports.import_lines import num_alike
from intarsia.infill.syntax.parse import Syntax

IMPORTS = frozenset(
    {
        "extern_crate_declaration",
        "future_import_statement",
        "import_declaration",
        "import_from_statement",
        "import_statement",
        "use_declaration",
    }
)
_DECLARATIONS = ("lexical_declaration", "variable_declaration")
_AROUND = ("ERROR", "mod_item", "declaration_list")  # what may hold imports of its own


def adds_one_import(before: Syntax, after: Syntax) -> bool:
    """Whether one import is new, or one has grown, and every other statement is as it was."""
    olds: Sequence[tree_sitter.Node] = [before.tree.root_node]
    news: Sequence[tree_sitter.Node] = [after.tree.root_node]
    while olds and (news[0].type in _AROUND or news[0].parent is None):
        olds, news = _differing(olds[0].named_children, news[0].named_children)
        if len(news) != 1 or len(olds) > 1 or any(it.type != news[0].type for it in olds):
            return False
    if news[0].has_error or not all(map(_is_import, (*olds, *news))):
        return False
    new = news[0]
    is_single = new.type not in _DECLARATIONS or new.named_child_count == 1
    return bool(olds) or (is_single and new.start_point.row == new.end_point.row)


def _differing(
    olds: Sequence[tree_sitter.Node], news: Sequence[tree_sitter.Node]
) -> tuple[Sequence[tree_sitter.Node], Sequence[tree_sitter.Node]]:
    """Leave out the statements that are the same at the start and at the end."""
    num_same = _num_same(olds, news)
    num_tail = _num_same(olds[num_same:][::-1], news[num_same:][::-1])
    return olds[num_same : len(olds) - num_tail], news[num_same : len(news) - num_tail]


def _num_same(olds: Sequence[tree_sitter.Node], news: Sequence[tree_sitter.Node]) -> int:
    return num_alike(((it.type, it.text) for it in olds), ((it.type, it.text) for it in news))


def _is_import(node: tree_sitter.Node) -> bool:
    """Whether a statement is an import, or a declaration that requires a module first."""
    if node.type not in _DECLARATIONS:
        return node.type in IMPORTS
    declarator = node.named_child(0)
    call = None if declarator is None else declarator.child_by_field_name("value")
    function = None if call is None else call.child_by_field_name("function")
    return function is not None and function.text == b"require"
