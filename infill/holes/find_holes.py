"""Finds the holes of a text: unwritten bodies, placeholders, and marks that the user chose.

The places are in file order and neither overlap nor touch. Broken code is searched like any other,
and so is code in the fences of a Markdown document. In a text beyond the parser's limits only marks
are found. The language's own file names the syntax nodes to look at; here is decided which of them
are holes, and what a fill replaces, so that a body gets lines of its own. Comments stay; one that
follows the replaced statement goes above the fill.

``undocumented`` finds the place of the documentation that a function does not have.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cache

import tree_sitter

from intarsia.infill.holes.hole import MarkedHole
from intarsia.infill.languages import NOT_IMPLEMENTED, Language, language_for_path
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.embedded_code import MAX_CHARS, find_embedded
from intarsia.infill.syntax.text import (
    columns,
    last_non_blank,
    leading_blank,
    line_at,
    line_end,
    line_start,
    newline_of,
    next_line_start,
)
from intarsia.infill.syntax.tree import Syntax, innermost_text, load_grammar, parse, parse_afresh

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


MAX_FENCES = 200
"""Code in later fences of a document is not searched."""

NO_OPS = frozenset({"pass", ":", ";", "..."})
"""Statements without effect: with a TODO comment they are holes."""

TODO = re.compile(r"\b(?:TODO|FIXME|XXX)\b")
"""A comment that says that code is still to be written."""

_BARE_TODO = re.compile(r"\s*(?:#|//|/\*|--|;|%)[\W_]*(?:TODO|FIXME|XXX)[\W_]*")
"""A comment that says no more than that: the fill takes its place."""


def find_holes(
    text: str, language: Language, *, marks: Sequence[str] = (), is_stub: bool = False
) -> tuple[MarkedHole, ...]:
    """Return every place to fill. In a file of declarations (``is_stub``) only marks count."""
    marked = [MarkedHole(start=start, end=end) for start, end in _marked(text, marks)]
    found = () if is_stub else _placeholders(text, language)
    return _apart([*marked, *found])


def is_stub(path: str) -> bool:
    """Whether the file's name says that it holds only declarations."""
    return path.lower().endswith(language_for_path(path).declaration_files)


def holes_within(holes: Sequence[MarkedHole], start: int, end: int) -> tuple[MarkedHole, ...]:
    """Return the holes that are wholly inside ``text[start:end]``."""
    return tuple(hole for hole in holes if start <= hole.start and hole.end <= end)


def _placeholders(text: str, language: Language) -> Iterator[MarkedHole]:
    if language.embeds:
        yield from _placeholders_in_fences(text, language)
    elif syntax := parse(text, language):
        yield from placeholder_holes(syntax)


def _placeholders_in_fences(text: str, language: Language) -> Iterator[MarkedHole]:
    if len(text) > MAX_CHARS:
        return
    for fence in find_embedded(text, language)[:MAX_FENCES]:
        if fence.is_quoted:  # a body of several lines would need its marks
            continue
        if syntax := parse_afresh(text[fence.start : fence.end], fence.language):
            for hole in placeholder_holes(syntax):
                start, end = fence.start + hole.start, fence.start + hole.end
                yield replace(hole, start=start, end=end)


def _marked(text: str, marks: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of the user's marks; of two that begin at one place, the longer one."""
    longest_first = sorted({mark for mark in marks if mark}, key=len, reverse=True)
    if longest_first:
        for match in re.finditer("|".join(map(re.escape, longest_first)), text):
            yield match.span()


def _apart(holes: Sequence[MarkedHole]) -> tuple[MarkedHole, ...]:
    """Drop holes that overlap or touch an earlier one of the sequence; sort the rest by place."""
    kept: list[MarkedHole] = []
    for hole in holes:
        index = bisect_left(kept, hole.start, key=lambda other: other.start)
        is_after_previous = index == 0 or kept[index - 1].end < hole.start
        if is_after_previous and (index == len(kept) or hole.end < kept[index].start):
            kept.insert(index, hole)
    return tuple(kept)


DEFAULT_INDENT_UNIT = "    "


def at_empty_body(syntax: Syntax, body: Body) -> MarkedHole:
    start, end = _offsets(syntax, body.inside)
    if not body.is_closed:
        start = end = line_end(syntax.text, start)
    return _on_own_line(syntax, body, start, end)


def below_comments(syntax: Syntax, body: Body) -> MarkedHole:
    """Return the place below the comments of a body that holds nothing else."""
    text = syntax.text
    start, end = _offsets(syntax, body.comments[-1])
    end = start + len(text[start:end].rstrip())  # some grammars include the line end
    if _BARE_TODO.fullmatch(text[start:end]) and _is_alone(text, start, end):
        return MarkedHole(start=start, end=end)
    closer = syntax.offset_at(body.inside.end)
    if body.is_closed and not text[end:closer].strip(" \t"):
        return _on_own_line(syntax, body, end, closer)
    blank = text[line_start(text, start) : start]
    indent = body.indent + _unit(syntax) if blank.strip() else blank
    return MarkedHole(start=end, end=end, before=newline_of(text) + indent)


def at_statement(syntax: Syntax, statement: ByteRange, body: Body | None = None) -> MarkedHole:
    """Return the place of a statement or expression. Pass ``body`` if it holds nothing else."""
    text = syntax.text
    start, end = _offsets(syntax, statement)
    comment = trailing_comment(syntax, statement)
    comment_text, last = "", end
    if comment is not None:
        first, last = _offsets(syntax, comment)
        comment_text = text[first:last].rstrip()
        last = first + len(comment_text)
        comment_text = "" if _BARE_TODO.fullmatch(comment_text) else comment_text
    lead = text[line_start(text, start) : start]
    is_at_line_end = not text[last : line_end(text, last)].strip()
    if _is_alone(text, start, last):
        above = line_start(text, max(0, start - len(lead) - 1))
        if _BARE_TODO.fullmatch(text, above, max(above, start - len(lead))):
            start = above + len(leading_blank(text[above:start]))
        before = comment_text and comment_text + newline_of(text) + leading_blank(lead)
        return MarkedHole(start=start, end=last, before=before)
    if body is not None and not body.is_closed and is_at_line_end:
        hole = _on_own_line(syntax, body, syntax.offset_at(body.inside.start), last)
        return replace(hole, before=f"  {comment_text}{hole.before}") if comment_text else hole
    if body is not None and body.is_closed and not body.comments:
        return _on_own_line(syntax, body, *_offsets(syntax, body.inside))
    return MarkedHole(start=start, end=end)


def _on_own_line(syntax: Syntax, body: Body, start: int, end: int) -> MarkedHole:
    newline = newline_of(syntax.text)
    return MarkedHole(
        start=start,
        end=end,
        before=newline + body.indent + _unit(syntax),
        after=newline + body.indent if body.is_closed else "",
    )


def _is_alone(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` has its lines to itself."""
    before, behind = text[line_start(text, start) : start], text[end : line_end(text, end)]
    return not before.strip(" \t\ufeff") and not behind.strip()


def _unit(syntax: Syntax) -> str:
    return syntax.indent_unit or DEFAULT_INDENT_UNIT


def _offsets(syntax: Syntax, byte_range: ByteRange) -> tuple[int, int]:
    return syntax.offset_at(byte_range.start), syntax.offset_at(byte_range.end)


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
    """The captures of the query. Of two captures of one block the more specific one is kept."""

    blocks: dict[ByteRange, _Block] = field(default_factory=dict)
    meant: set[ByteRange] = field(default_factory=set)
    anywhere: set[ByteRange] = field(default_factory=set)

    def add_block(self, byte_range: ByteRange, block: _Block) -> None:
        known = self.blocks.get(byte_range)
        if known is None or block.is_named or (block.is_function and not known.is_named):
            self.blocks[byte_range] = block


def functions_around(
    syntax: Syntax, start: int, end: int
) -> Iterator[tuple[tree_sitter.Node, tree_sitter.Node]]:
    """Yield each function or class with a body that touches ``text[start:end]``, and its body."""
    within = ByteRange(syntax.byte_at(start), max(syntax.byte_at(end), syntax.byte_at(start) + 1))
    for block in _capture(syntax, within).blocks.values() if syntax.language.holes else ():
        if block.is_function:
            yield block.owner, block.node


def has_name(function: tree_sitter.Node) -> bool:
    """Whether a function or class is named where it is written."""
    return any(map(function.child_by_field_name, ("name", "declarator")))


def placeholder_holes(syntax: Syntax) -> Iterator[MarkedHole]:
    """Yield the places to fill, a body before its content. Where two overlap, the first counts."""
    if not syntax.language.holes:
        return
    captures = _capture(syntax)
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
    return block.is_function and re.fullmatch(NOT_IMPLEMENTED, code) is not None


def _has_todo(syntax: Syntax, body: Body) -> bool:
    """Whether a comment in the body, or right after its last statement, is a TODO."""
    comments = list(body.comments)
    if body.statements and (trailing := trailing_comment(syntax, body.statements[-1])) is not None:
        comments.append(trailing)
    return any(TODO.search(_text(syntax, comment)) for comment in comments)


def _without_docstring(syntax: Syntax, body: Body) -> tuple[ByteRange, ...]:
    if syntax.language.has_docstrings and body.statements:
        first = _text(syntax, body.statements[0]).lstrip("rRuU")
        return body.statements[1:] if first.startswith(('"', "'")) else body.statements
    return body.statements


def _capture(syntax: Syntax, within: ByteRange | None = None) -> _Captures:
    """Return the nodes that the language's query finds, or those of them that touch ``within``.

    All its captures are optional.

    - ``@named``: the body of an ``@owner`` with a name; a hole if it is empty.
    - ``@function``: the body of any other ``@owner``; a hole if it says "not implemented".
    - ``@block``: any block; a hole if it holds only a TODO comment.
    - ``@anywhere``: a statement or expression that is a hole wherever it is found.
    - ``@meant``: a body that is empty on purpose.
    """
    captures, language = _Captures(), syntax.language
    root = syntax.tree.root_node
    query = _query(language.grammar, language.holes)
    cursor = tree_sitter.QueryCursor(query, match_limit=MAX_UNFINISHED)
    if within is not None:
        cursor.set_byte_range(within.start, within.end)
    for _, nodes in cursor.matches(root):
        for name, (node, *_) in nodes.items():
            byte_range = ByteRange(node.start_byte, node.end_byte)
            match name:
                case "block":
                    captures.add_block(byte_range, _Block(node, node))
                case "named" | "function":
                    owner = nodes["owner"][0]
                    is_named = name == "named" and not _is_often_empty(syntax, owner)
                    captures.add_block(byte_range, _Block(node, owner, True, is_named))
                case "meant":
                    captures.meant.add(byte_range)
                case "anywhere" if _may_be_anywhere(syntax, byte_range):
                    captures.anywhere.add(byte_range)
    return captures


def _is_often_empty(syntax: Syntax, owner: tree_sitter.Node) -> bool:
    names = syntax.language.often_empty
    name = owner.child_by_field_name("name") if names else None
    return name is not None and _text(syntax, ByteRange(name.start_byte, name.end_byte)) in names


def _may_be_anywhere(syntax: Syntax, byte_range: ByteRange) -> bool:
    pattern = syntax.language.hole_text
    return pattern is None or re.fullmatch(pattern, _text(syntax, byte_range)) is not None


def _text(syntax: Syntax, byte_range: ByteRange) -> str:
    return syntax.data[byte_range.start : byte_range.end].decode("utf-8", "replace")


@cache
def _query(grammar: str, query: str) -> tree_sitter.Query:
    return tree_sitter.Query(load_grammar(grammar), query)


_OWN_LINE = ("@", "#[", "[", "template")
"""How lines between a comment and its function begin: decorators, attributes."""


def undocumented(text: str, start: int, end: int, language: Language) -> MarkedHole | NoSuggestion:
    """Return the place in the innermost function with a name that holds ``text[start:end]``."""
    syntax = parse(text, language)
    if syntax is None or not (language.has_docstrings or language.documentation):
        return NoSuggestion(reason=f"where {language.id} has its documentation is not known here")
    around = [
        (owner, body)
        for owner, body in functions_around(syntax, line_start(text, start), line_end(text, end))
        if has_name(owner)
        and _first_line(syntax, owner) <= start
        and end <= syntax.offset_at(owner.end_byte)
    ]
    if not around:
        return NoSuggestion(reason="there is no function here: put the cursor into one")
    owner, body = max(around, key=lambda it: it[0].start_byte)
    return _inside(syntax, body) if language.has_docstrings else _above(syntax, owner)


def _first_line(syntax: Syntax, owner: tree_sitter.Node) -> int:
    return line_start(syntax.text, syntax.offset_at(owner.start_byte))


def _inside(syntax: Syntax, body: tree_sitter.Node) -> MarkedHole | NoSuggestion:
    text, start = syntax.text, syntax.offset_at(body.start_byte)
    if text[start:].lstrip("rRuU").startswith(('"', "'")):
        return NoSuggestion(reason="this function has a docstring already")
    blank = text[line_start(text, start) : start]
    if blank.strip():
        return NoSuggestion(reason="the body begins in the line of its function: break the line")
    return MarkedHole(start=start, end=start, before='"""', after=f'"""{newline_of(text)}{blank}')


def _above(syntax: Syntax, owner: tree_sitter.Node) -> MarkedHole | NoSuggestion:
    text, (start, comments) = syntax.text, notes_above(syntax, owner)
    if comments:
        return NoSuggestion(reason="there is a comment above this function already")
    name = owner.child_by_field_name("name")
    known = "" if name is None or name.text is None else name.text.decode("utf-8", "replace")
    begin, close = syntax.language.documentation or ("", "")
    blank = leading_blank(line_at(text, start))
    before = blank + begin.format(name=known)
    return MarkedHole(start=start, end=start, before=before, after=close + newline_of(text))


def notes_above(syntax: Syntax, owner: tree_sitter.Node) -> tuple[int, list[str]]:
    """Return where the comments and attributes right above a function start, its own line where
    there are none, and the comments."""
    text, start, comments = syntax.text, _first_line(syntax, owner), list[str]()
    while (last := last_non_blank(text, start)) >= 0 and text.count("\n", last, start) == 1:
        node, first = innermost_text(syntax, last), line_start(text, last)
        if node is not None and node.type in syntax.language.comments:
            begin = syntax.offset_at(node.start_byte)
            first = line_start(text, begin)
            if text[first:begin].strip():
                break  # it is about the code before it
            comments.append(text[begin : last + 1])
        elif not text[first:last].lstrip().startswith(_OWN_LINE):
            break
        start = first
    return start, comments
