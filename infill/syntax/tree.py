"""Parses source text within bounds, and tells what is at an offset of it: code, a string, prose.

A text is parsed once per version; after an edit, only the changed part is read again. Broken code
is parsed too, and so are lone surrogates. A text beyond the limits has no syntax (None) and is
treated as plain text: they are a time limit, and texts on which a grammar would crash the process,
which the language's own file tells.

Offsets are string indices; trees, and the helpers below, count UTF-8 bytes. No string is prose in
files of data or markup: there, strings are the content. Nor is one that names something: a key, a
module, a variable, one of several words.
"""

import contextlib
import re
import threading
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib import import_module
from itertools import accumulate
from threading import Lock
from typing import Literal, TypeAlias

import tree_sitter

from intarsia.infill.languages import Language
from intarsia.infill.syntax.text import (
    PAIRS,
    indent_unit,
    line_start,
    open_marks,
    open_quote,
    replaced_range,
)

LIMIT_S = 0.1
LIMIT_S_PER_MEGABYTE = 1.0
"""Together ten times what good code of the same size takes."""

LOGGED_LIMIT_S = 0.5
"""Writing the log takes some twenty times as long as parsing."""

CHUNK_BYTES = 32 * 1024

NODE_BYTES = 256
"""Most nodes with a text that is read are names."""

MAX_ERROR_STEPS = 50_000_000
"""The squares of the numbers of nodes in what could not be parsed: a query takes about 0.05 s."""
MAX_VISITED_NODES = 250_000


@cache
def load_grammar(grammar: str) -> tree_sitter.Language:
    """Return a language's grammar, loaded on first use. It stays in memory; there are thirty."""
    module, _, function = grammar.partition(":")
    return tree_sitter.Language(getattr(import_module(module), function or "language")())


def parse_bounded(
    data: bytes, grammar: tree_sitter.Language, older: tree_sitter.Tree | None = None
) -> tree_sitter.Tree | None:
    """Parse UTF-8 bytes; return None if that takes too long, or hardly anything can be parsed.

    ``older`` is the tree before an edit.
    """
    source = _Source(data, LIMIT_S + LIMIT_S_PER_MEGABYTE * len(data) / 1e6)
    parser = tree_sitter.Parser(grammar)
    try:
        if older is None:
            tree = parser.parse(source.read, progress_callback=source.is_late)
        else:
            tree = parser.parse(source.read, older, progress_callback=source.is_late)
    except ValueError:  # what the binding raises when the callback has stopped it
        return None
    if source.is_late():
        return None
    source.is_parsed = True  # the tree keeps it, and reads the text of nodes
    return None if is_too_broken(tree) else tree


class _Source:
    """Gives a parser the bytes of a text, and none once its time is over."""

    def __init__(self, data: bytes, limit_s: float) -> None:
        self.is_parsed = False
        self._data = data
        self._end, self._quick_end = time.thread_time() + limit_s, time.monotonic() + limit_s

    def is_late(self, *_: object) -> bool:
        return time.monotonic() > self._quick_end and time.thread_time() > self._end  # cheap first

    def read(self, byte: int, _point: tree_sitter.Point) -> bytes | bytearray:
        """Return the next bytes. One token may take most of the time, so that is looked at here."""
        if self.is_parsed:
            return self._data[byte : byte + NODE_BYTES]
        return _given.chunk(b"" if self.is_late() else self._data[byte : byte + CHUNK_BYTES])


class _Given(threading.local):
    """The text that a parser was given last, one object for each thread.

    tree-sitter 0.26.1 frees nothing that a read function returns: new bytes would stay for ever,
    and each key of a user would cost the memory of the text.
    """

    def __init__(self) -> None:
        self._bytes = bytearray()

    def chunk(self, data: bytes) -> bytearray:
        """Return the object with other content. The parser is done with what it held before."""
        self._bytes[:] = data
        return self._bytes


_given = _Given()


def is_too_broken(tree: tree_sitter.Tree) -> bool:
    """Whether so much could not be parsed that working on the tree would take quadratic time.

    In an error, queries and the parse after an edit look from each node at all later ones. Neither
    can be stopped: the progress callback of queries crashes in tree-sitter 0.26.
    """
    cursor, num_steps = tree.walk(), 0
    for _ in range(MAX_VISITED_NODES):
        node = cursor.node
        if node is not None and node.is_error:
            num_steps += node.child_count**2
            if num_steps > MAX_ERROR_STEPS:
                return True
        is_entered = node is not None and node.has_error and cursor.goto_first_child()
        while not is_entered and not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return False
    return True


def parse_logged(
    data: bytes,
    grammar: tree_sitter.Language,
    log: Callable[[tree_sitter.LogType, str], None],
    is_enough: Callable[[], bool],
) -> None:
    """Parse UTF-8 bytes for the parser's log alone; end early once that is enough."""
    end = time.thread_time() + LOGGED_LIMIT_S

    def read(byte: int, _point: tree_sitter.Point) -> bytearray:
        return _given.chunk(data[byte : byte + CHUNK_BYTES])

    def is_over(_byte: int, _has_error: bool) -> bool:
        return is_enough() or time.thread_time() > end

    parser = tree_sitter.Parser(grammar)
    parser.logger = log
    with contextlib.suppress(ValueError):  # the callback has stopped it
        parser.parse(read, progress_callback=is_over)


def is_beyond_grammar(text: str, language: Language) -> bool:
    """Whether the text might crash the grammar, if everything that can nest were open at once."""
    return language.is_beyond_grammar is not None and language.is_beyond_grammar(text)


MAX_PARSED_CHARS = 1_000_000
MAX_LINE_CHARS = 20_000
MAX_EDITED_CHARS = 5_000
"""A text that differs from the last one by more than this is parsed from the start."""


_STEP_CHARS = 4_096
"""Offsets of a text with other characters than ASCII are counted from the last multiple of this."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Syntax:
    """A parsed text. What is worked out of the whole text is worked out once."""

    text: str
    data: bytes
    tree: tree_sitter.Tree
    language: Language

    def byte_at(self, offset: int) -> int:
        """Return where a character starts in ``data``."""
        if self.text.isascii():
            return offset
        step = offset // _STEP_CHARS
        return self._step_bytes[step] + len(_encode(self.text[step * _STEP_CHARS : offset]))

    def offset_at(self, byte: int) -> int:
        """Return the offset of the character that starts at a byte."""
        if self.text.isascii():
            return byte
        step = bisect_right(self._step_bytes, byte) - 1
        rest = self.data[self._step_bytes[step] : byte].decode("utf-8", "replace")
        return step * _STEP_CHARS + len(rest)

    @cached_property
    def indent_unit(self) -> str | None:
        return indent_unit(self.text)

    @cached_property
    def _step_bytes(self) -> Sequence[int]:
        """Where every 4,096th character starts in ``data``."""
        starts = range(0, len(self.text), _STEP_CHARS)
        sizes = (len(_encode(self.text[at : at + _STEP_CHARS])) for at in starts)
        return list(accumulate(sizes, initial=0))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Parsed:
    """A text and its syntax, None if parsing was given up."""

    text: str
    language_id: str
    syntax: Syntax | None


class _RecentTexts:
    """The last few texts, so that each is parsed once and a keystroke parses only its change."""

    def __init__(self) -> None:
        self._recent: deque[_Parsed] = deque(maxlen=4)
        self._lock = Lock()

    def find(self, text: str, language: Language) -> _Parsed | None:
        return next((known for known in self._of(language) if known.text == text), None)

    def newest(self, language: Language) -> Syntax | None:
        syntaxes = (known.syntax for known in self._of(language))
        return next((syntax for syntax in syntaxes if syntax is not None), None)

    def add(self, parsed: _Parsed) -> None:
        with self._lock:
            self._recent.appendleft(parsed)

    def _of(self, language: Language) -> list[_Parsed]:
        with self._lock:
            return [known for known in self._recent if known.language_id == language.id]


_recent = _RecentTexts()


def parse(text: str, language: Language) -> Syntax | None:
    """Return the syntax of a text; None if it has no grammar or is beyond the limits."""
    if not language.grammar or len(text) > MAX_PARSED_CHARS:
        return None
    known = _recent.find(text, language)
    if known is None:
        syntax = _parse_from(_recent.newest(language), text, language)
        known = _Parsed(text=text, language_id=language.id, syntax=syntax)
        _recent.add(known)
    return known.syntax


def parse_afresh(text: str, language: Language) -> Syntax | None:
    """Parse all of a text. Unlike ``parse``, it returns the same tree of broken code every time."""
    if not language.grammar or len(text) > MAX_PARSED_CHARS:
        return None
    has_long_line = len(text) > MAX_LINE_CHARS and max(map(len, text.split("\n"))) > MAX_LINE_CHARS
    if has_long_line or is_beyond_grammar(text, language):
        return None
    data = _encode(text)
    tree = parse_bounded(data, load_grammar(language.grammar))
    return tree and Syntax(text=text, data=data, tree=tree, language=language)


def parse_edited(syntax: Syntax, start: int, end: int, replacement: str) -> Syntax | None:
    """Parse the text with ``text[start:end]`` replaced, reading only the changed part."""
    text = syntax.text[:start] + replacement + syntax.text[end:]
    grammar = syntax.language.grammar
    if not grammar or is_beyond_grammar(text, syntax.language):
        return None
    first, last = syntax.byte_at(start), syntax.byte_at(end)
    new = _encode(replacement)
    data = syntax.data[:first] + new + syntax.data[last:]
    new_last = first + len(new)
    older = syntax.tree.copy()
    older.edit(
        first,
        last,
        new_last,
        _point(syntax.data, first),
        _point(syntax.data, last),
        _point(data, new_last),
    )
    tree = parse_bounded(data, load_grammar(grammar), older)
    return tree and Syntax(text=text, data=data, tree=tree, language=syntax.language)


def _parse_from(older: Syntax | None, text: str, language: Language) -> Syntax | None:
    """Parse the change from an older version, or the whole text if the two differ too much."""
    if older is not None:
        start, end, new_end = replaced_range(older.text, text)
        if end - start + new_end - start <= MAX_EDITED_CHARS:
            return parse_edited(older, start, end, text[start:new_end])
    return parse_afresh(text, language)


def _encode(text: str) -> bytes:
    """Return UTF-8 with a question mark for a lone surrogate, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace")


def _point(data: bytes, byte: int) -> tuple[int, int]:
    return data.count(b"\n", 0, byte), byte - data.rfind(b"\n", 0, byte) - 1


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
    return syntax is None or innermost_text(syntax, offset) is None


def comment_at(syntax: Syntax | None, offset: int) -> int | None:
    """Return where the comment around the character at ``offset`` starts, if there is one."""
    if syntax is None:
        return None
    node = innermost_text(syntax, offset)
    is_comment = node is not None and node.type in syntax.language.comments
    return syntax.offset_at(node.start_byte) if node is not None and is_comment else None


def is_inside_string(syntax: Syntax | None, offset: int) -> bool:
    """Whether an insertion at ``offset`` would be inside a string."""
    if syntax is None or offset <= 0:
        return False
    node = innermost_text(syntax, offset - 1)
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
    """Count the nodes that the parser could not read or had to insert, up to MAX_ERRORS.

    Ruby's takes an ``end`` without a beginning for a name; it counts too.
    """
    count = _num_stray_ends(syntax)
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


def _num_stray_ends(syntax: Syntax) -> int:
    ends = {end.encode() for end in syntax.language.ends if end.isalpha()}
    if not ends:
        return 0
    names = (it for it in syntax.tree.root_node.named_children if it.type == "identifier")
    return sum(syntax.data[name.start_byte : name.end_byte] in ends for name in names)


def num_errors_with(syntax: Syntax, start: int, end: int, replacement: str) -> int:
    """Count the errors of the text with ``text[start:end]`` replaced; MAX_ERRORS if it is unknown.

    In a text without others, a node at the replacement's end counts that belongs elsewhere only.
    """
    edited = parse_edited(syntax, start, end, replacement)
    if edited is None:
        return MAX_ERRORS
    last = start + len(replacement.rstrip()) - 1
    return num_errors(edited) or int(_is_stray(edited, max(start, last)))


def _is_stray(syntax: Syntax, offset: int) -> bool:
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


def innermost_text(syntax: Syntax, offset: int) -> tree_sitter.Node | None:
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


def prose_in(text: str, language: Language, offset: int) -> Prose | None:
    """Return which prose an insertion into a text would be part of, None in code."""
    return prose_at(parse(text, language), offset)


@lru_cache(maxsize=1)  # whether a text is shown there, and how, is asked one after the other
def prose_at(syntax: Syntax | None, offset: int) -> Prose | None:
    """Return which prose an insertion at ``offset`` would be part of, None in code."""
    if syntax is None:
        return None
    start, line_begin = _comment_around(syntax, offset), line_start(syntax.text, offset)
    if start is None:
        start = _open_block_comment(syntax, line_begin, offset)
    if start is not None:
        return "documentation" if _is_begun(syntax.text, start, offset) else "comment"
    if not syntax.language.are_strings_prose:
        return None
    line = syntax.text[line_begin:offset]
    with_string = _with_string_around(syntax, line, offset)
    if with_string is None or _is_in_expression(line):
        return None
    if not _is_docstring(with_string, offset):
        return None if _is_name(syntax, line, offset) else "string"
    return "documentation" if _BEGUN_DOCSTRING.match(line) else "comment"


def is_in_open_comment(syntax: Syntax | None, line_begin: int, offset: int) -> bool:
    """Whether an insertion at ``offset`` would be in a block comment that has no end yet."""
    if syntax is None or _comment_around(syntax, offset) is not None:
        return False
    return _open_block_comment(syntax, line_begin, offset) is not None


def _comment_around(syntax: Syntax, offset: int) -> int | None:
    """Return where the comment starts that text typed at ``offset`` would go on with."""
    text = syntax.text
    start = comment_at(syntax, offset - 1) if offset > 0 else None
    if start is None or comment_at(syntax, offset) == start:
        return start
    has_ended = text.startswith(tuple(_BLOCK_ENDS), start) or "\n" in text[start:offset]
    return None if has_ended else start


def _open_block_comment(syntax: Syntax, line_begin: int, offset: int) -> int | None:
    """Return where a line begins a block comment without an end, which no grammar can read.

    Lines below go on with it that begin with a star. ``line_begin`` is that of the offset's line.
    """
    text, start = syntax.text, line_begin
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


def _with_string_around(syntax: Syntax, line: str, offset: int) -> Syntax | None:
    """Return the syntax in which ``offset`` is in a string; one that is open is closed there.

    ``line`` is the text before it on its line.
    """
    if is_inside_string(syntax, offset):
        return syntax
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
