"""Finds placeholders in a parsed text: bodies, statements and expressions still to be written.

The language's row in ``hole_rules`` names the syntax nodes to look at. This file decides which of
them are holes, and which are empty on purpose.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache

import tree_sitter

from intarsia.infill.holes.hole_rules import (
    NO_OPS,
    NOT_IMPLEMENTED,
    TODO,
    HoleRules,
    rules_for,
)
from intarsia.infill.holes.marked_hole import MarkedHole
from intarsia.infill.holes.placement import at_empty_body, at_statement, below_comments
from intarsia.infill.languages import Language
from intarsia.infill.syntax.body import Body, ByteRange, read_body, trailing_comment
from intarsia.infill.syntax.grammar import load_grammar
from intarsia.infill.syntax.parse import Syntax

MAX_UNFINISHED = 256
"""Matches that a query follows at once. Thousands of decorators would take cubic time."""


@dataclass(frozen=True, slots=True)
class _Block:
    """A block, and the function or other node that owns it; by default, itself."""

    node: tree_sitter.Node
    owner: tree_sitter.Node
    is_function: bool = False
    is_named: bool = False


@dataclass(slots=True)
class _Captures:
    """What the query found. Of two captures of one block the more specific one is kept."""

    blocks: dict[ByteRange, _Block] = field(default_factory=dict)
    meant: set[ByteRange] = field(default_factory=set)
    anywhere: set[ByteRange] = field(default_factory=set)

    def add_block(self, byte_range: ByteRange, block: _Block) -> None:
        known = self.blocks.get(byte_range)
        if known is None or block.is_named or (block.is_function and not known.is_named):
            self.blocks[byte_range] = block


def placeholder_holes(syntax: Syntax) -> Iterator[MarkedHole]:
    """Yield the places to fill, a body before its content. Where two overlap, the first counts."""
    rules = rules_for(syntax.language)
    if rules is None:
        return
    captures = _capture(syntax, rules)
    meant: set[ByteRange] = set()
    for byte_range, block in captures.blocks.items():
        body = read_body(syntax, block.node, block.owner)
        if body is None:
            continue
        if byte_range in captures.meant and not _has_todo(syntax, body):
            meant.update(body.statements)
        elif (hole := _hole_in(syntax, block, body, captures.anywhere)) is not None:
            yield hole
    for byte_range in sorted(captures.anywhere - meant, key=lambda each: (each.start, -each.end)):
        yield at_statement(syntax, byte_range)


def _hole_in(
    syntax: Syntax, block: _Block, body: Body, anywhere: AbstractSet[ByteRange]
) -> MarkedHole | None:
    """Return the hole if a body is one as a whole."""
    statements = _without_docstring(syntax, body)
    if len(statements) > 1:
        return None
    if statements:
        is_hole = statements[0] in anywhere or _is_placeholder(syntax, block, body, statements[0])
        return at_statement(syntax, statements[0], body) if is_hole else None
    is_broken = not body.is_closed and not body.statements  # a header without any body
    if body.comments:
        is_hole = is_broken or _has_todo(syntax, body)
        return below_comments(syntax, body) if is_hole else None
    is_hole = is_broken or (block.is_named and not body.statements)
    return at_empty_body(syntax, body) if is_hole else None


def _is_placeholder(syntax: Syntax, block: _Block, body: Body, statement: ByteRange) -> bool:
    code = _text(syntax, statement)
    if code.strip() in NO_OPS:
        return _has_todo(syntax, body)
    return block.is_function and NOT_IMPLEMENTED.fullmatch(code) is not None


def _has_todo(syntax: Syntax, body: Body) -> bool:
    """Whether a comment in the body, or right after its last statement, is a TODO."""
    comments = list(body.comments)
    if body.statements and (trailing := trailing_comment(syntax, body.statements[-1])) is not None:
        comments.append(trailing)
    return any(TODO.search(_text(syntax, comment)) for comment in comments)


def _without_docstring(syntax: Syntax, body: Body) -> tuple[ByteRange, ...]:
    is_python = syntax.language.id == "python"
    first = body.statements[0] if body.statements else None
    if is_python and first and _text(syntax, first).lstrip("rRuU").startswith(('"', "'")):
        return body.statements[1:]
    return body.statements


def _capture(syntax: Syntax, rules: HoleRules) -> _Captures:
    captures = _Captures()
    root = syntax.tree.root_node
    query = _query(rules, syntax.language)
    for _, nodes in tree_sitter.QueryCursor(query, match_limit=MAX_UNFINISHED).matches(root):
        for name, (node, *_) in nodes.items():
            byte_range = ByteRange(node.start_byte, node.end_byte)
            match name:
                case "block":
                    captures.add_block(byte_range, _Block(node, node))
                case "named" | "function":
                    owner = nodes["owner"][0]
                    is_named = name == "named" and not _is_named_by(syntax, owner, rules.names)
                    captures.add_block(byte_range, _Block(node, owner, True, is_named))
                case "meant":
                    captures.meant.add(byte_range)
                case "anywhere" if _may_be_anywhere(syntax, byte_range, rules):
                    captures.anywhere.add(byte_range)
    return captures


def _is_named_by(syntax: Syntax, owner: tree_sitter.Node, names: frozenset[str]) -> bool:
    name = owner.child_by_field_name("name") if names else None
    return name is not None and _text(syntax, ByteRange(name.start_byte, name.end_byte)) in names


def _may_be_anywhere(syntax: Syntax, byte_range: ByteRange, rules: HoleRules) -> bool:
    return rules.anywhere is None or rules.anywhere.fullmatch(_text(syntax, byte_range)) is not None


def _text(syntax: Syntax, byte_range: ByteRange) -> str:
    return syntax.data[byte_range.start : byte_range.end].decode("utf-8", "replace")


@cache
def _query(rules: HoleRules, language: Language) -> tree_sitter.Query:
    assert language.grammar is not None, "a text without a grammar is not parsed"
    return tree_sitter.Query(load_grammar(language.grammar), rules.query)
