"""Reads a block of a syntax tree: the range of its inside, and its statements and comments."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter

from intarsia.infill.syntax.lines import columns, leading_blank, line_end, next_line_start
from intarsia.infill.syntax.parse import Syntax

MAX_COMMENT_LINES = 40
MAX_INDENT_BYTES = 1_000

_BLANKS = re.compile(rb"[ \t]*")
_WRAPPERS = frozenset({"body_statement", "statement_list", "statements"})
"""Nodes between a block and its statements."""

_BRACKETS = frozenset({("{", "}"), ("do", "end")})


@dataclass(frozen=True, slots=True)
class ByteRange:
    """A range of the text's bytes in UTF-8."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Body:
    inside: ByteRange
    indent: str  # of the line on which the block's owner begins
    is_closed: bool  # by a bracket or a word; if not, indentation ends the block
    statements: tuple[ByteRange, ...]
    comments: tuple[ByteRange, ...]


def read_body(syntax: Syntax, block: tree_sitter.Node, owner: tree_sitter.Node) -> Body | None:
    """Return the inside of a block; None if it has no proper beginning or end."""
    if syntax.language.block_style == "indent":
        return _read_indented(syntax, block, owner)
    inside = _between_brackets(block) or _before_end(block)
    if inside is None:
        return None
    nodes = [node for node in children_of(block) if node.start_byte >= inside.start]
    return Body(
        inside=inside,
        indent=_indent(syntax, owner),
        is_closed=True,
        statements=tuple(_range_of(node) for node in nodes if not is_comment(node)),
        comments=tuple(_range_of(node) for node in nodes if is_comment(node)),
    )


def _between_brackets(block: tree_sitter.Node) -> ByteRange | None:
    opener, closer = block.child(0), block.child(block.child_count - 1)
    if opener is None or closer is None or closer.is_missing:
        return None
    is_proper = (opener.type, closer.type) in _BRACKETS
    return ByteRange(opener.end_byte, closer.start_byte) if is_proper else None


def _before_end(method: tree_sitter.Node) -> ByteRange | None:
    """Return the range between the header of a method and its ``end``."""
    header = method.child_by_field_name("parameters") or method.child_by_field_name("name")
    closer = method.child(method.child_count - 1)
    if header is None or closer is None or closer.type != "end" or closer.is_missing:
        return None
    return ByteRange(header.end_byte, closer.start_byte)


def _read_indented(syntax: Syntax, block: tree_sitter.Node, owner: tree_sitter.Node) -> Body | None:
    between: list[tree_sitter.Node] = []
    node = block.prev_sibling
    while node is not None and is_comment(node):
        between.insert(0, node)
        node = node.prev_sibling
    if node is None or node.type != ":":
        return None
    nodes = list(children_of(block))
    comments = [_range_of(child) for child in (*between, *nodes) if is_comment(child)]
    indent = _indent(syntax, owner)
    if not nodes:
        comments = [*comments, *_comments_below(syntax, node.end_byte, columns(indent))]
    ends = [block.end_byte, *(comment.end for comment in comments)]
    return Body(
        inside=ByteRange(node.end_byte, max(ends) if nodes or comments else node.end_byte),
        indent=indent,
        is_closed=False,
        statements=tuple(_range_of(child) for child in nodes if not is_comment(child)),
        comments=tuple(comments),
    )


def _comments_below(syntax: Syntax, byte: int, header_columns: int) -> Iterator[ByteRange]:
    """Yield the comments below a header without a body, which the parser puts elsewhere."""
    text, start = syntax.text, next_line_start(syntax.text, syntax.offset_at(byte))
    for _ in range(MAX_COMMENT_LINES):
        line = text[start : line_end(text, start)]
        if line.strip():
            if not line.lstrip().startswith("#") or columns(line) <= header_columns:
                return
            first = start + len(leading_blank(line))
            yield ByteRange(syntax.byte_at(first), syntax.byte_at(start + len(line.rstrip())))
        start = next_line_start(text, start)


def children_of(block: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """Yield the statements and comments of a block."""
    for node in block.named_children:
        if node.type in _WRAPPERS:
            yield from node.named_children
        else:
            yield node


def is_comment(node: tree_sitter.Node) -> bool:
    return node.type.endswith("comment") or node.type == "marginalia"  # of SQL


def _range_of(node: tree_sitter.Node) -> ByteRange:
    return ByteRange(node.start_byte, node.end_byte)


def _indent(syntax: Syntax, owner: tree_sitter.Node) -> str:
    data, start = syntax.data, owner.start_byte
    first = max(data.rfind(b"\n", 0, start), data.rfind(b"\r", 0, start)) + 1
    return leading_blank(data[first : first + MAX_INDENT_BYTES].decode("utf-8", "replace"))


def trailing_comment(syntax: Syntax, statement: ByteRange) -> ByteRange | None:
    """Return the comment after a statement on its last line, if there is one."""
    blanks = _BLANKS.match(syntax.data, statement.end)
    first = blanks.end() if blanks else statement.end
    node = syntax.tree.root_node.descendant_for_byte_range(first, first + 1)
    if node is not None and node.parent is not None and is_comment(node.parent):
        node = node.parent  # of its mark
    if node is None or not is_comment(node) or node.start_byte != first:
        return None
    return _range_of(node)
