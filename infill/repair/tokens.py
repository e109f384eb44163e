"""The tokens of a parsed text: the leaves of its tree, with each string as one token."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import tree_sitter

from intarsia.infill.syntax.nodes import COMMENTS, MAX_DEPTH, STRINGS, goto_next
from intarsia.infill.syntax.parse import Syntax


@dataclass(frozen=True, slots=True)
class Token:
    """``text[start:end]``. A named one has a text of its own: a name, a number, a string."""

    start: int
    end: int
    kind: str  # the grammar's name; of an unnamed token its text
    is_named: bool


def tokens_of(syntax: Syntax) -> list[Token]:
    """Return the tokens of a text, in order. Comments are none."""
    tokens: list[Token] = []
    at_byte, at = 0, 0
    for node in _leaves(syntax.tree.walk()):
        begin = at + _num_chars(syntax.data[at_byte : node.start_byte])
        at = begin + _num_chars(syntax.data[node.start_byte : node.end_byte])
        at_byte = node.end_byte
        tokens.append(Token(begin, at, node.type, node.is_named))
    return tokens


def index_at(tokens: Sequence[Token], offset: int) -> int:
    """Return the index of the first token that ends after an offset."""
    return bisect_left(tokens, offset + 1, key=lambda token: token.end)


def apart(before: str, new: str, after: str) -> str:
    """Return new text with the blanks without which it would join the words beside it."""
    if not new:
        return " " if _is_word(before[-1:]) and _is_word(after[:1]) else ""
    left = " " if _is_word(before[-1:]) and _is_word(new[:1]) else ""
    right = " " if _is_word(new[-1:]) and _is_word(after[:1]) else ""
    return f"{left}{new}{right}"


def _is_word(character: str) -> bool:
    return character.isalnum() or character in ("_", "$")


def _num_chars(data: bytes) -> int:
    return len(data.decode("utf-8", "replace"))


def _leaves(cursor: tree_sitter.TreeCursor) -> Iterator[tree_sitter.Node]:
    """Yield the leaves of a tree; what is nested too deeply is one leaf."""
    while True:
        node = cursor.node
        assert node is not None, "a cursor of a tree is at a node"
        is_leaf = node.child_count == 0 or node.type in STRINGS or cursor.depth >= MAX_DEPTH
        if node.type not in COMMENTS:
            if not is_leaf:
                cursor.goto_first_child()
                continue
            if node.end_byte > node.start_byte:
                yield node
        if not goto_next(cursor):
            return
