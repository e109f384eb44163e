"""Parses a text, once per version: what an edit leaves alone is not read again.

Broken code parses, lone surrogates too. A text beyond the limits has no syntax at all (None): its
readers then treat it as plain text. Offsets are string indices; trees count bytes.
"""

from collections import deque
from dataclasses import dataclass
from threading import Lock

import tree_sitter

from intarsia.infill.languages import Language
from intarsia.infill.syntax.difference import replaced_stretch
from intarsia.infill.syntax.grammar import load_grammar
from intarsia.infill.syntax.parser_limits import is_beyond_grammar, parse_bounded

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


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Parsed:
    """A text that was parsed, or given up."""

    text: str
    language_id: str
    syntax: Syntax | None


class _RecentTexts:
    """The last few texts: each is parsed once, and a keystroke parses only what it changed."""

    def __init__(self) -> None:
        self._recent: deque[_Parsed] = deque(maxlen=4)
        self._lock = Lock()

    def find(self, text: str, language: Language) -> _Parsed | None:
        return next((it for it in self._of(language) if it.text == text), None)

    def newest(self, language: Language) -> Syntax | None:
        return next((it.syntax for it in self._of(language) if it.syntax is not None), None)

    def add(self, parsed: _Parsed) -> None:
        with self._lock:
            self._recent.appendleft(parsed)

    def _of(self, language: Language) -> list[_Parsed]:
        with self._lock:
            return [it for it in self._recent if it.language_id == language.id]


_recent = _RecentTexts()


def parse(text: str, language: Language) -> Syntax | None:
    """Parse a text, or return what came of the same text a moment ago."""
    if language.grammar is None or len(text) > MAX_PARSED_CHARS:
        return None
    known = _recent.find(text, language)
    if known is None:
        syntax = _parse_from(_recent.newest(language), text, language)
        known = _Parsed(text=text, language_id=language.id, syntax=syntax)
        _recent.add(known)
    return known.syntax


def parse_afresh(text: str, language: Language) -> Syntax | None:
    """Parse all of a text, whatever was parsed before it: of broken code, always the same tree."""
    is_refused = (
        len(text) > MAX_PARSED_CHARS or _has_long_line(text) or is_beyond_grammar(text, language)
    )
    if language.grammar is None or is_refused:
        return None
    data = _encode(text)
    tree = parse_bounded(data, load_grammar(language.grammar))
    return tree and Syntax(text=text, data=data, tree=tree, language=language)


def parse_edited(syntax: Syntax, start: int, end: int, replacement: str) -> Syntax | None:
    """Parse the text with ``text[start:end]`` replaced, reading only what the edit changed."""
    text = syntax.text[:start] + replacement + syntax.text[end:]
    grammar = syntax.language.grammar
    if grammar is None or is_beyond_grammar(text, syntax.language):
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
    """Parse what differs from an older version, or all of it where there is none."""
    if older is not None:
        start, end, new_end = replaced_stretch(older.text, text)
        if end - start + new_end - start <= MAX_EDITED_CHARS:
            return parse_edited(older, start, end, text[start:new_end])
    return parse_afresh(text, language)


def _has_long_line(text: str) -> bool:
    return len(text) > MAX_LINE_CHARS and max(map(len, text.split("\n"))) > MAX_LINE_CHARS


def _encode(text: str) -> bytes:
    """Return UTF-8, with a lone surrogate as one question mark: it has no bytes of its own."""
    return text.encode("utf-8", "replace")


def _point(data: bytes, byte: int) -> tuple[int, int]:
    return data.count(b"\n", 0, byte), byte - data.rfind(b"\n", 0, byte) - 1
