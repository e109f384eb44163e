"""Finds where a parser could not go on: the token that it did not expect, and what it did expect.

An error node of a tree tells little of that: where recovery fails, it is the whole file. The parser
itself tells it in its log, which is read until the first errors. A parser of this kind goes on
as long as some text could follow, so the mistake is at this token or before it.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import tree_sitter

from intarsia.infill.languages import Language
from intarsia.infill.syntax.text import line_end, line_start
from intarsia.infill.syntax.tree import (
    MAX_DEPTH,
    Syntax,
    goto_next,
    load_grammar,
    parse,
    parse_logged,
)


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
    for node in _leaves(syntax):
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


def _leaves(syntax: Syntax) -> Iterator[tree_sitter.Node]:
    """Yield the leaves of a tree; what is nested too deeply is one leaf."""
    cursor, language = syntax.tree.walk(), syntax.language
    while True:
        node = cursor.node
        assert node is not None, "a cursor of a tree is at a node"
        is_leaf = node.child_count == 0 or node.type in language.strings
        is_leaf |= cursor.depth >= MAX_DEPTH
        if node.type not in language.comments:
            if not is_leaf:
                cursor.goto_first_child()
                continue
            if node.end_byte > node.start_byte:
                yield node
        if not goto_next(cursor):
            return


MAX_PLACES = 4

_MAX_LINES = 6
"""Only this near to an error are the expected tokens listed."""

_STEP = re.compile(r"process version:\d+, version_count:\d+, state:(\d+), row:(\d+), col:(\d+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorPlace:
    """``offset`` is where the last token ends after which the parser could not go on.

    ``expected`` are the unnamed tokens that could follow, by where the token before them ends.
    """

    offset: int
    expected: Mapping[int, Collection[str]]


class _Log:
    """Reads the parser's log: at each place its states, and the places where it gave up."""

    def __init__(self) -> None:
        self.states: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
        self.places: list[tuple[int, int]] = []
        self._at = (0, 0)

    def __call__(self, kind: tree_sitter.LogType, message: str) -> None:
        if message.startswith("process"):
            if match := _STEP.match(message):
                self._at = int(match[2]), int(match[3])
                self.states[self._at].add(int(match[1]))
        elif message.startswith("resume") and self._at not in self.places:
            self.places.append(self._at)

    @property
    def is_enough(self) -> bool:
        return len(self.places) >= MAX_PLACES


def error_places(syntax: Syntax) -> list[ErrorPlace]:
    """Return the first places of errors, in the order in which the parser meets them."""
    grammar = syntax.language.grammar
    if not grammar or not syntax.tree.root_node.has_error:
        return []
    language, log = load_grammar(grammar), _Log()
    parse_logged(syntax.data, language, log, lambda: log.is_enough)
    starts = [0, *(match.end() for match in re.finditer(b"\n", syntax.data))]
    expected = {
        syntax.offset_at(starts[row] + column): _unnamed(language, states)
        for (row, column), states in log.states.items()
        if any(abs(row - place) <= _MAX_LINES for place, _ in log.places)
    }
    return [
        ErrorPlace(offset=syntax.offset_at(starts[row] + column), expected=expected)
        for row, column in log.places
    ]


def error_on_lines(text: str, start: int, end: int, language: Language) -> int | None:
    """Return where the parser could not go on in the lines of a range; None if it could."""
    syntax = parse(text, language)
    if syntax is None or not syntax.tree.root_node.has_error:
        return None
    first, last = line_start(text, start), line_end(text, end)
    for place in error_places(syntax):
        unexpected = len(text) - len(text[place.offset :].lstrip())
        if first <= place.offset <= last or first <= unexpected <= last:
            return place.offset
    return None


def _unnamed(language: tree_sitter.Language, states: Collection[int]) -> Collection[str]:
    """Return the texts of the tokens that are valid in one of the states at least."""
    return {
        name
        for state in states
        if 0 < state < language.parse_state_count
        for symbol, name in language.lookahead_iterator(state) or ()
        if language.node_kind_is_visible(symbol) and not language.node_kind_is_named(symbol)
        if name.isascii() and name.strip() == name
    }
