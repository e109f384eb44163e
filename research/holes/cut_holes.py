"""Lists every range of a source file that could be cut out as a hole with a known answer.

The ranges are those that an editor might have to fill. Choosing among them is left to the caller.
Broken code has holes too; a text that cannot be parsed has only those within a line.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Literal, TypeAlias, get_args

import tree_sitter

from intarsia.infill.holes.find_holes import NO_OPS, children_of, is_comment
from intarsia.infill.languages import COMMENTS, INTERPOLATIONS, STRINGS, Language
from intarsia.infill.syntax.text import BYTE_ORDER_MARK, line_end, line_start, with_plain_newlines
from intarsia.infill.syntax.tree import MAX_LINE_CHARS, Syntax, load_grammar, parse_afresh
from intarsia_research.holes.node_table import HoleNodes, hole_nodes

CutHoleKind: TypeAlias = Literal[
    "line",  # a whole line after its indentation
    "rest_of_line",  # from a word's edge to the line's end
    "inside_word",  # from inside a word to the line's end
    "block",  # the whole body of a header, from its first statement to its last
    "expression",  # one expression within a line, which also has other code
    "arguments",  # everything between the brackets of a call
]
CUT_HOLE_KINDS: tuple[CutHoleKind, ...] = get_args(CutHoleKind)

_LINE_KINDS: frozenset[CutHoleKind] = frozenset({"line", "rest_of_line", "inside_word"})

FEWEST_LINE_CHARS = 4
FEWEST_WORD_CHARS = 4
EXPRESSION_CHARS = range(4, 81)
MAX_BLOCK_LINES = 12

CODE, STRING, COMMENT = range(3)  # what a character is part of

_LINE = re.compile(r"[^\r\n]+")
_WORD = re.compile(r"\w+")
_RUN = re.compile(r"[\x00-\x7f]+|[^\x00-\x7f]")
_AROUND_STATEMENT = frozenset({"", ";", ","})


@dataclass(frozen=True, kw_only=True, slots=True)
class CutHole:
    """``text[start:end]`` is cut out, and is the answer."""

    kind: CutHoleKind
    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Source:
    """A text and its code map."""

    text: str
    codes: bytearray  # CODE, STRING or COMMENT for each character

    def may_be_cut(self, start: int, end: int) -> bool:
        """Whether neither edge is inside a string or at a comment."""
        is_commented = COMMENT in (self.codes[start], self.codes[end - 1])
        return not (is_commented or self._is_in_string(start) or self._is_in_string(end))

    def has_comment(self, start: int, end: int) -> bool:
        return self.codes.find(COMMENT, start, end) >= 0

    def words(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield start and end of each word of code."""
        for word in _WORD.finditer(self.text, start, end):
            if self.codes[word.start()] == CODE:
                yield word.span()

    def _is_in_string(self, offset: int) -> bool:
        return self.codes[offset - 1 : offset + 1] == bytes([STRING, STRING])


def cut_holes(
    text: str, language: Language, kinds: Collection[CutHoleKind] = CUT_HOLE_KINDS
) -> dict[CutHoleKind, list[CutHole]]:
    """Return all holes of these kinds, sorted by start; plain text has none."""
    spans: dict[CutHoleKind, set[tuple[int, int]]] = {kind: set() for kind in kinds}
    if language.grammar and "\0" not in text:
        syntax, nodes = parse_afresh(text, language), hole_nodes(language)
        prose = nodes.prose if nodes else frozenset[str]()
        codes = map_code(syntax, prose) if syntax else bytearray(len(text))
        source = _Source(text=text, codes=codes)
        found = _in_lines(source, kinds)
        if syntax and nodes and not _LINE_KINDS.issuperset(kinds):
            found = chain(found, _in_nodes(source, syntax, nodes))
        for kind, start, end in found:
            if kind in spans:
                spans[kind].add((start, end))
    return {
        kind: [CutHole(kind=kind, start=start, end=end) for start, end in sorted(ranges)]
        for kind, ranges in spans.items()
    }


def _in_lines(
    source: _Source, kinds: Collection[CutHoleKind]
) -> Iterator[tuple[CutHoleKind, int, int]]:
    text = source.text
    for match in _LINE.finditer(text):
        line = match.group()
        code = line.lstrip().removeprefix(BYTE_ORDER_MARK).lstrip()
        start = match.start() + len(line) - len(code)
        end = match.start() + len(line.rstrip())
        if start >= end or len(line) > MAX_LINE_CHARS or source.has_comment(start, end):
            continue
        words = list(source.words(start, end))
        if not words or not source.may_be_cut(words[0][0], end):
            continue
        if _num_non_blank(text[start:end]) >= FEWEST_LINE_CHARS and source.may_be_cut(start, end):
            yield "line", start, end
        for first, last in words:
            for edge in (first, last):
                if edge > start and text[edge : end - 1].strip():
                    yield "rest_of_line", edge, end
            is_long = last - first >= FEWEST_WORD_CHARS
            if "inside_word" in kinds and is_long and not text[first].isdigit():
                for inner in range(first + 1, min(last, end - 1)):
                    yield "inside_word", inner, end


def _in_nodes(
    source: _Source, syntax: Syntax, nodes: HoleNodes
) -> Iterator[tuple[CutHoleKind, int, int]]:
    query = _query(nodes, syntax.language)
    captures = tree_sitter.QueryCursor(query).captures(syntax.tree.root_node)
    offsets = offsets_of_bytes(syntax.text)
    for name, is_part in (("expression", _is_quoted), ("member", _is_head)):
        for node in captures.get(name, ()):
            start, end = offsets[node.start_byte], offsets[node.end_byte]
            is_whole = not node.has_error and _is_expression(source, start, end)
            if is_whole and not is_part(node):
                yield "expression", start, end
    for node in captures.get("arguments", ()):
        start, end = offsets[node.start_byte], offsets[node.end_byte]
        if not node.has_error and _is_argument_list(source, start, end):
            yield "arguments", start + 1, end - 1
    others = {node.id for node in captures.get("other", ())}
    for block in (*captures.get("block", ()), *captures.get("opener", ())):
        statements = _statements(block, syntax.language)
        if block.id in others or not statements or any(node.has_error for node in statements):
            continue
        start, end = offsets[statements[0].start_byte], offsets[statements[-1].end_byte]
        end = start + len(source.text[start:end].rstrip())
        if _is_body(source, start, end):
            yield "block", start, end


def _is_expression(source: _Source, start: int, end: int) -> bool:
    expression = source.text[start:end]
    if end - start not in EXPRESSION_CHARS or _num_lines(expression) > 1:
        return False
    if source.has_comment(start, end) or not source.may_be_cut(start, end):
        return False
    before = source.text[line_start(source.text, start) : start].strip()
    after = source.text[end : line_end(source.text, end)].strip()
    return _WORD.search(expression) is not None and bool(before or after not in _AROUND_STATEMENT)


def _is_argument_list(source: _Source, start: int, end: int) -> bool:
    """Whether the range is brackets on one line with something between them."""
    brackets, arguments = source.text[start:end], source.text[start + 1 : end - 1]
    return (
        brackets.startswith("(")
        and brackets.endswith(")")
        and _num_lines(arguments) == 1
        and _num_non_blank(arguments) >= 2
        and not source.has_comment(start, end)
        and source.may_be_cut(start + 1, end - 1)
    )


def _is_body(source: _Source, start: int, end: int) -> bool:
    """Whether the statements have lines of their own and are not only placeholders."""
    text = source.text
    return (
        end - start >= 2
        and _num_lines(text[start:end]) <= MAX_BLOCK_LINES
        and not text[line_start(text, start) : start].strip()
        and not text[end : line_end(text, end)].strip()
        and text[start:end] not in NO_OPS
        and any(source.words(start, end))
        and source.may_be_cut(start, end)
    )


def _statements(block: tree_sitter.Node, language: Language) -> list[tree_sitter.Node]:
    """Return the nodes from the first statement that is not a docstring to the last statement."""
    nodes = list(children_of(block) if block.is_named else _after(block))
    places = [place for place, node in enumerate(nodes) if not is_comment(node)]
    if places and language.has_docstrings and _is_docstring(nodes[places[0]]):
        places = places[1:]
    return nodes[places[0] : places[-1] + 1] if places else []


def _after(opener: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """Yield the nodes after a word that opens a body, up to the next clause."""
    node = opener.next_named_sibling
    while node is not None and not node.type.endswith("_clause"):
        yield node
        node = node.next_named_sibling


def _is_docstring(statement: tree_sitter.Node) -> bool:
    content = statement.named_child(0) if statement.type == "expression_statement" else None
    return content is not None and content.type in ("string", "concatenated_string")


def _is_head(member: tree_sitter.Node) -> bool:
    """Whether something longer begins with the node: a call, an assignment, a longer path."""
    node: tree_sitter.Node | None = member
    while node is not None and (node.start_byte, node.end_byte) == (
        member.start_byte,
        member.end_byte,
    ):
        node = node.parent
    return node is not None and node.start_byte == member.start_byte


def _is_quoted(node: tree_sitter.Node) -> bool:
    """Whether the node is an interpolation right inside a string, as in a shell's "$(date)"."""
    return node.type in INTERPOLATIONS and node.parent is not None and node.parent.type in STRINGS


def _num_lines(text: str) -> int:
    return with_plain_newlines(text).count("\n") + 1


def _num_non_blank(text: str) -> int:
    return len("".join(text.split()))


@cache
def _query(nodes: HoleNodes, language: Language) -> tree_sitter.Query:
    return tree_sitter.Query(load_grammar(language.grammar), nodes.query)


def map_code(syntax: Syntax, prose: frozenset[str] = frozenset()) -> bytearray:
    """Return CODE, STRING or COMMENT for each character. Nodes of ``prose`` count as strings.

    Where strings and interpolations nest, the innermost one counts.
    """
    offsets = offsets_of_bytes(syntax.text)
    codes = bytearray(len(syntax.text))
    for first, minus_last, kind in sorted(_marked_ranges(syntax, prose)):
        start, end = offsets[first], offsets[-minus_last]
        codes[start:end] = bytes([kind]) * (end - start)
    return codes


def offsets_of_bytes(text: str) -> Sequence[int]:
    """Return the character offset of each UTF-8 byte, which trees count, and of the text's end."""
    if text.isascii():
        return range(len(text) + 1)
    offsets: list[int] = []
    for run in _RUN.finditer(text):
        if run.group().isascii():
            offsets.extend(range(run.start(), run.end()))
        else:
            offsets += [run.start()] * len(run.group().encode("utf-8", "replace"))
    return [*offsets, len(text)]


def _marked_ranges(syntax: Syntax, prose: frozenset[str]) -> set[tuple[int, int, int]]:
    """Return start, negative end (so that outer ranges sort before inner ones) and kind."""
    query = _code_query(syntax.language, prose)
    if query is None:
        return set()
    captures = tree_sitter.QueryCursor(query).captures(syntax.tree.root_node)
    return {
        (node.start_byte, -node.end_byte, kind)
        for kind, name in enumerate(("code", "string", "comment"))
        for node in captures.get(name, ())
    }


@cache
def _code_query(language: Language, prose: frozenset[str]) -> tree_sitter.Query | None:
    grammar = load_grammar(language.grammar)
    patterns = [
        f"({kind}) @{name}"
        for name, kinds in (
            ("code", INTERPOLATIONS),
            ("string", STRINGS | prose),
            ("comment", COMMENTS),
        )
        for kind in sorted(kinds)
        if grammar.id_for_node_kind(kind, True)  # no grammar has all of these kinds
    ]
    return tree_sitter.Query(grammar, "\n".join(patterns)) if patterns else None
