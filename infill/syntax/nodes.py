"""Looks up what is at an offset of a parsed text: nodes, strings, comments, prose, parse errors.

Public functions take string indices; the helpers below count UTF-8 bytes, as the trees do. No
string is prose in files of data or markup: there, strings are the content. Nor is one that names
something: a key, a module, a variable, one of several words.
"""

import re
from typing import Literal, TypeAlias

import tree_sitter

from intarsia.infill.syntax.brackets import PAIRS, open_marks, open_quote
from intarsia.infill.syntax.lines import line_start
from intarsia.infill.syntax.parse import Syntax, parse_edited

MAX_ERRORS = 200
MAX_DEPTH = 500
"""Deeper nodes are not visited: no real code has them, and a walk must end soon."""


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
    is_comment = node is not None and node.type in syntax.language.comments
    return syntax.offset_at(node.start_byte) if node is not None and is_comment else None


def is_inside_string(syntax: Syntax | None, offset: int) -> bool:
    """Whether an insertion at ``offset`` would be inside a string."""
    if syntax is None or offset <= 0:
        return False
    node = _innermost_text(syntax, offset - 1)
    if node is None or node.type not in syntax.language.strings:
        return False
    return syntax.byte_at(offset) < node.end_byte


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


def is_stray(syntax: Syntax, offset: int) -> bool:
    """Whether a node around ``offset`` is one that the language has elsewhere only."""
    if not (stray := syntax.language.stray):
        return False
    around = {it.type for it in nodes_at(syntax, offset)}
    return any(kind in around and holder not in around for kind, holder in stray)


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
    language = syntax.language
    for node in reversed(nodes_at(syntax, offset)):
        if not node.is_named:  # TypeScript's keyword "string" is not a string
            continue
        if node.type in language.interpolations:
            return None
        if node.type in language.strings or node.type in language.comments:
            return node
    return None


Prose: TypeAlias = Literal["comment", "documentation", "string"]
"""``documentation``: a docstring or documentation comment that has no word yet. With words it is
a comment."""

_BEGUN_COMMENT = re.compile(r"(?:/\*\*[\s*]*|//[/!]\s*|---\s*)\Z")
_BEGUN_DOCSTRING = re.compile(r"\s*[rRuU]?(?:\"\"\"|''')\s*\Z")
_DOC_LINES = ("///", "//!", "---")
_BLOCK_ENDS = {"/*": "*/", "<!--": "-->", "--[[": "]]"}
_OPENS_BLOCK, _STARRED = re.compile(r"(?:.*[\s(,;{])?(/\*|<!--|--\[\[)"), re.compile(r"[ \t]*\*")
_QUOTES = ('"""', "'''", '"', "'", "`")

_NAME = re.compile(
    r"(?:[\w)\]]\[|`(?:[^`]*\s)?\w+:|\b(?:from|import|include|load|require|source|use)\b[^\"'`;]*)[\"'`][^\s\"'`]*\Z"
)
"""A key in brackets, in Go's tags or a module, in quotes that are open: such a string is a name."""
_KEY = re.compile(r"(?:(?:^|[{,\[])\s*|\bcase\s+)[\"'`][^\s\"'`]*\Z")
_AFTER_KEY = re.compile(r"[^\s\"'`]*[\"'`]\s*(?:=>|:)")
_AFTER_WORD = re.compile(r"([\"'])[^\s\"'`]+\1\s*,\s*[\"'][^\s\"'`]*\Z")
MAX_CHARS_BEFORE = 200
_VARIABLE = re.compile(r"\$\w*\Z")


def prose_at(syntax: Syntax | None, offset: int) -> Prose | None:
    """Return which prose an insertion at ``offset`` would be part of, None in code."""
    if syntax is None:
        return None
    start = _comment_around(syntax, offset)
    if start is None:
        start = _open_block_comment(syntax, offset)
    if start is not None:
        return "documentation" if _is_begun(syntax.text, start, offset) else "comment"
    if not syntax.language.are_strings_prose:
        return None
    with_string = _with_string_around(syntax, offset)
    line = syntax.text[line_start(syntax.text, offset) : offset]
    if with_string is None or _is_in_expression(line):
        return None
    if not _is_docstring(with_string, offset):
        return None if _is_name(syntax, line, offset) else "string"
    return "documentation" if _BEGUN_DOCSTRING.match(line) else "comment"


def is_in_open_comment(syntax: Syntax | None, offset: int) -> bool:
    """Whether an insertion at ``offset`` would be in a block comment that has no end yet."""
    if syntax is None or _comment_around(syntax, offset) is not None:
        return False
    return _open_block_comment(syntax, offset) is not None


def _comment_around(syntax: Syntax, offset: int) -> int | None:
    """Return where the comment starts that text typed at ``offset`` would go on with."""
    text = syntax.text
    start = comment_at(syntax, offset - 1) if offset > 0 else None
    if start is None or comment_at(syntax, offset) == start:
        return start
    has_ended = text.startswith(tuple(_BLOCK_ENDS), start) or "\n" in text[start:offset]
    return None if has_ended else start


def _open_block_comment(syntax: Syntax, offset: int) -> int | None:
    """Return where a line begins a block comment without an end, which no grammar can read.

    Lines below go on with it that begin with a star.
    """
    text = syntax.text
    start = line_start(text, offset)
    while start > 0 and _STARRED.match(text, start, offset):
        start = line_start(text, start - 1)
    begun = _OPENS_BLOCK.match(text, start, offset)
    closer = _BLOCK_ENDS[begun[1]] if begun else None
    if begun is None or closer not in syntax.language.ends:
        return None
    if open_quote(text[start : begun.start(1)]) is not None:
        return None
    return None if text.find(closer, begun.end(), offset) >= 0 else begun.start(1)


def _is_begun(text: str, start: int, offset: int) -> bool:
    """Whether the comment from ``start`` on documents something, and has no word yet."""
    if not _BEGUN_COMMENT.match(text, start, offset):
        return False
    above = text[line_start(text, max(0, line_start(text, start) - 1)) : start].strip()
    return not above.startswith(_DOC_LINES)


def _with_string_around(syntax: Syntax, offset: int) -> Syntax | None:
    """Return the syntax in which ``offset`` is in a string; one that is open is closed there."""
    if is_inside_string(syntax, offset):
        return syntax
    line = syntax.text[line_start(syntax.text, offset) : offset]
    for quote in _QUOTES:
        is_open = line.count(quote) % 2 == 1
        if is_open and not (quote == "'" and syntax.language.has_characters):
            closed = parse_edited(syntax, offset, offset, quote)
            if closed is not None and is_inside_string(closed, offset):
                return closed
    return None


def _is_in_expression(line: str) -> bool:
    """Whether a line ends inside an expression in quotes, which the parser may not know yet."""
    *outer, last = open_marks(line) or [""]
    return last in PAIRS and any(mark not in PAIRS for mark in outer)


def _is_name(syntax: Syntax, line: str, offset: int) -> bool:
    """Whether the string at ``offset`` names a key, a module, a variable, or is among words."""
    if syntax.language.has_bare_variables and _VARIABLE.search(line):
        return True
    is_key = _KEY.search(line) and _AFTER_KEY.match(syntax.text, offset)
    is_listed = _AFTER_WORD.search(syntax.text, max(0, offset - MAX_CHARS_BEFORE), offset)
    return bool(is_key or is_listed or _NAME.search(line))


def _is_docstring(syntax: Syntax, offset: int) -> bool:
    """Whether the string around ``offset`` is a statement of its own, and so documents."""
    kinds = [node.type for node in nodes_at(syntax, offset - 1)]
    return (
        syntax.language.has_docstrings
        and "string" in kinds[-2:]
        and (kinds[kinds.index("string") - 1] == "expression_statement")
    )
