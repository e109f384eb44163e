"""Looks up what is at an offset of a parsed text: nodes, strings, comments, scopes, parse errors.

Public functions take string indices; the helpers below count UTF-8 bytes, as the trees do.
"""

import tree_sitter

from intarsia.infill.syntax.parse import Syntax

MAX_ERRORS = 200
MAX_DEPTH = 500
"""Deeper nodes are not visited: no real code has them, and a walk must end soon."""

_STRINGS = (
    "ansi_c_string char_literal character character_literal charlist double_quote_scalar"
    " encapsed_string heredoc heredoc_body interpolated_string interpolated_string_expression"
    " interpreted_string_literal line_string_literal multi_line_string_literal multiline_string"
    " multiline_string_literal nowdoc_string raw_string raw_string_literal regex regex_literal"
    " sigil single_quote_scalar string string_array string_literal string_value template_string"
    " verbatim_string_literal"
)
STRINGS = frozenset(_STRINGS.split())
INTERPOLATIONS = frozenset(
    {
        "command_substitution",
        "expansion",
        "interpolated_expression",
        "interpolation",
        "raw_str_interpolation",
        "string_interpolation",
        "template_substitution",
    }
)
_COMMENTS = (
    "block_comment comment documentation_comment html_comment js_comment line_comment marginalia"
    " multiline_comment xml_comment"
)
COMMENTS = frozenset(_COMMENTS.split())


def node_text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def nodes_at(syntax: Syntax, offset: int) -> list[tree_sitter.Node]:
    """Return the nodes around the character at ``offset``, from the root to the innermost."""
    return nodes_at_byte(syntax, syntax.byte_at(offset))


def nodes_at_byte(syntax: Syntax, byte: int) -> list[tree_sitter.Node]:
    """Return the nodes around a byte of the text, from the root to the innermost."""
    nodes, cursor = [], syntax.tree.walk()
    for _ in range(MAX_DEPTH):
        node = cursor.node
        if node is None or not node.start_byte <= byte < node.end_byte:
            break
        nodes.append(node)
        if not _goto_child_at(cursor, byte):
            break
    return nodes


def is_code(syntax: Syntax | None, offset: int) -> bool:
    """Whether the character at ``offset`` is code, and not part of a string or comment."""
    return syntax is None or _innermost_text(syntax, offset) is None


def comment_at(syntax: Syntax | None, offset: int) -> int | None:
    """Return where the comment around the character at ``offset`` starts, if there is one."""
    if syntax is None:
        return None
    node = _innermost_text(syntax, offset)
    is_comment = node is not None and node.type in COMMENTS
    return syntax.offset_at(node.start_byte) if node is not None and is_comment else None


def is_inside_string(syntax: Syntax | None, offset: int) -> bool:
    """Whether an insertion at ``offset`` would be inside a string."""
    if syntax is None or offset <= 0:
        return False
    node = _innermost_text(syntax, offset - 1)
    return node is not None and node.type in STRINGS and syntax.byte_at(offset) < node.end_byte


def edges_of_scopes(syntax: Syntax | None, start: int, end: int) -> list[int]:
    """Return where statements begin within ``start`` and ``end``, in order, in the outermost scope.

    These are the definitions of a file, or if none begins there, the members of the definition that
    the range is part of, and so on inwards.
    """
    if syntax is None or start >= end:
        return []
    first, last = syntax.byte_at(max(0, start)), syntax.byte_at(end)
    cursor = syntax.tree.walk()
    for _ in range(MAX_DEPTH):
        edges = _child_starts(cursor, first, last)
        if edges:
            return [syntax.offset_at(byte) for byte in edges]
        if not _goto_child_at(cursor, first):
            break
    return []


def num_errors(syntax: Syntax) -> int:
    """Count the nodes that the parser could not read or had to insert, up to MAX_ERRORS."""
    count = 0
    cursor = syntax.tree.walk()
    while count < MAX_ERRORS:
        node = cursor.node
        if node is not None and (node.is_error or node.is_missing):
            count += 1
        is_entered = (
            node is not None
            and node.has_error
            and cursor.depth < MAX_DEPTH
            and cursor.goto_first_child()
        )
        if not is_entered and not goto_next(cursor):
            break
    return count


def goto_next(cursor: tree_sitter.TreeCursor) -> bool:
    """Go to the next node that is not inside this one."""
    while not cursor.goto_next_sibling():
        if not cursor.goto_parent():
            return False
    return True


def _child_starts(cursor: tree_sitter.TreeCursor, first: int, last: int) -> list[int]:
    """Return where the named children that begin within ``first`` and ``last`` begin."""
    starts: list[int] = []
    is_child = is_entered = cursor.goto_first_child_for_byte(first) is not None
    while is_child and cursor.node is not None and cursor.node.start_byte <= last:
        if cursor.node.is_named and cursor.node.start_byte >= first:
            starts.append(cursor.node.start_byte)
        is_child = cursor.goto_next_sibling()
    if is_entered:  # a copied cursor would need no way back, but copies crash in tree-sitter 0.26
        cursor.goto_parent()
    return starts


def _goto_child_at(cursor: tree_sitter.TreeCursor, byte: int) -> bool:
    """Go to the first child that ends after ``byte``; the library also stops where one ends."""
    is_child = cursor.goto_first_child_for_byte(byte) is not None
    while is_child and cursor.node is not None and cursor.node.end_byte <= byte:
        is_child = cursor.goto_next_sibling()
    return is_child


def _innermost_text(syntax: Syntax, offset: int) -> tree_sitter.Node | None:
    """Return the string or comment around the character at ``offset``."""
    for node in reversed(nodes_at(syntax, offset)):
        if not node.is_named:  # TypeScript's keyword "string" is not a string
            continue
        if node.type in INTERPOLATIONS:
            return None
        if node.type in STRINGS or node.type in COMMENTS:
            return node
    return None
