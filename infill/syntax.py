"""Parses a text, once per version: what an edit leaves alone is not read again.

Any text parses, broken code and lone surrogates too. A text beyond the limits has no syntax at all
(None), and its readers then treat it as plain text. Offsets are string indices; trees count bytes.
"""

from collections import deque
from dataclasses import dataclass
from threading import Lock

import tree_sitter

from intarsia.infill.difference import replaced_stretch
from intarsia.infill.grammar import load_grammar
from intarsia.infill.languages import Language

MAX_PARSED_CHARS = 1_000_000
MAX_LINE_CHARS = 20_000
MAX_EDITED_CHARS = 5_000
"""A text that differs by more than this from the last one is parsed afresh."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Syntax:
    """A parsed text."""

    text: str
    data: bytes
    tree: tree_sitter.Tree
    language: Language

    def byte_at(self, offset: int) -> int:
        return offset if self.text.isascii() else len(_encode(self.text[:offset]))

    def offset_at(self, byte: int) -> int:
        return byte if self.text.isascii() else len(self.data[:byte].decode("utf-8", "replace"))


class _RecentTrees:
    """The last few parsed texts: a keystroke parses only what it changed."""

    def __init__(self) -> None:
        self._recent: deque[Syntax] = deque(maxlen=4)
        self._lock = Lock()

    def find(self, text: str, language: Language) -> Syntax | None:
        with self._lock:
            for syntax in self._recent:
                if syntax.language.id == language.id and syntax.text == text:
                    return syntax
        return None

    def newest(self, language: Language) -> Syntax | None:
        with self._lock:
            return next((it for it in self._recent if it.language.id == language.id), None)

    def add(self, syntax: Syntax) -> None:
        with self._lock:
            self._recent.appendleft(syntax)


_recent = _RecentTrees()


def parse(text: str, language: Language) -> Syntax | None:
    """Parse a text, or return the tree of the same text parsed a moment ago."""
    if language.grammar is None or len(text) > MAX_PARSED_CHARS:
        return None
    syntax = _recent.find(text, language)
    if syntax is None and not _has_long_line(text):
        syntax = _parse_from(_recent.newest(language), text, language)
        _recent.add(syntax)
    return syntax


def parse_edited(syntax: Syntax, start: int, end: int, replacement: str) -> Syntax:
    """Parse the text with ``text[start:end]`` replaced, reading only what the edit changed."""
    assert syntax.language.grammar is not None
    first, last = syntax.byte_at(start), syntax.byte_at(end)
    new = _encode(replacement)
    data = syntax.data[:first] + new + syntax.data[last:]
    tree = syntax.tree.copy()
    new_last = first + len(new)
    tree.edit(
        first,
        last,
        new_last,
        _point(syntax.data, first),
        _point(syntax.data, last),
        _point(data, new_last),
    )
    parser = tree_sitter.Parser(load_grammar(syntax.language.grammar))
    text = syntax.text[:start] + replacement + syntax.text[end:]
    return Syntax(text=text, data=data, tree=parser.parse(data, tree), language=syntax.language)


def _has_long_line(text: str) -> bool:
    return len(text) > MAX_LINE_CHARS and max(map(len, text.split("\n"))) > MAX_LINE_CHARS


def _parse_from(older: Syntax | None, text: str, language: Language) -> Syntax:
    """Parse what differs from an older version, or all of it where there is none."""
    if older is not None:
        start, end, new_end = replaced_stretch(older.text, text)
        if end - start + new_end - start <= MAX_EDITED_CHARS:
            return parse_edited(older, start, end, text[start:new_end])
    assert language.grammar is not None
    data = _encode(text)
    tree = tree_sitter.Parser(load_grammar(language.grammar)).parse(data)
    return Syntax(text=text, data=data, tree=tree, language=language)


def _encode(text: str) -> bytes:
    """Return UTF-8, with a lone surrogate as one question mark: it has no bytes of its own."""
    return text.encode("utf-8", "replace")


def _point(data: bytes, byte: int) -> tuple[int, int]:
    return data.count(b"\n", 0, byte), byte - data.rfind(b"\n", 0, byte) - 1
