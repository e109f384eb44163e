"""Parses a text once per version; after an edit, only the changed part is read again.

Broken code is parsed too, and so are lone surrogates. A text beyond the limits has no syntax (None)
and is treated as plain text. Offsets are string indices; trees count UTF-8 bytes.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from threading import Lock

import tree_sitter

from intarsia.infill.languages import Language
from intarsia.infill.syntax.difference import replaced_range
from intarsia.infill.syntax.grammar import load_grammar
from intarsia.infill.syntax.indentation import indent_unit
from intarsia.infill.syntax.parser_limits import is_beyond_grammar, parse_bounded

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
    if language.grammar is None or len(text) > MAX_PARSED_CHARS:
        return None
    known = _recent.find(text, language)
    if known is None:
        syntax = _parse_from(_recent.newest(language), text, language)
        known = _Parsed(text=text, language_id=language.id, syntax=syntax)
        _recent.add(known)
    return known.syntax


def parse_afresh(text: str, language: Language) -> Syntax | None:
    """Parse all of a text. Unlike ``parse``, it returns the same tree of broken code every time."""
    if language.grammar is None or len(text) > MAX_PARSED_CHARS:
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
