"""Keeps parsing within bounds: a time limit, and texts on which a grammar would crash the process.

Ruby's grammar keeps the names of open heredocs, and the strings that interpolations nest, in 1,024
bytes and miscounts at the edge. While a name's quote is still to be typed, the name may run to the
end of the text. Fixed after 0.23.1, not yet released:
https://github.com/tree-sitter/tree-sitter-ruby/issues/269

YAML's grammar keeps the columns of open collections, which it writes past the end of the same 1,024
bytes: 255 on one line end the process (0.7.2).
"""

import contextlib
import re
import time
from collections.abc import Callable

import tree_sitter

from intarsia.infill.languages import Language

LIMIT_S = 0.1
LIMIT_S_PER_MEGABYTE = 1.0
"""Together ten times what good code of the same size takes."""

LOGGED_LIMIT_S = 0.5
"""Writing the log takes some twenty times as long as parsing."""

CHUNK_BYTES = 32 * 1024

MAX_STATE_BYTES = 1_000
MAX_NAME_BYTES = 250
BYTES_PER_HEREDOC = 4
BYTES_PER_STRING = 5

MAX_OPEN_COLLECTIONS = 200
"""Of YAML; each takes four bytes."""

_NAME = r"\"[^\"]{0,255}|'[^']{0,255}|`[^`]{0,255}|\w{1,255}"
_HEREDOC = re.compile(rf"(?=<<[~-]?({_NAME}))")  # ahead only: one may begin within another's name

_INDENT = re.compile(r"^[ \t]*", re.MULTILINE)
_OPENS_COLLECTION = re.compile(r"[-?:](?=\s|$)")


def parse_bounded(
    data: bytes, grammar: tree_sitter.Language, older: tree_sitter.Tree | None = None
) -> tree_sitter.Tree | None:
    """Parse UTF-8 bytes; return None if that takes too long. ``older``: the tree before an edit."""
    end = time.thread_time() + LIMIT_S + LIMIT_S_PER_MEGABYTE * len(data) / 1e6

    def read(byte: int, _point: tree_sitter.Point) -> bytes:
        return data[byte : byte + CHUNK_BYTES]

    def is_late(_byte: int, _has_error: bool) -> bool:
        return time.thread_time() > end

    parser = tree_sitter.Parser(grammar)
    try:
        if older is None:
            return parser.parse(read, progress_callback=is_late)
        return parser.parse(read, older, progress_callback=is_late)
    except ValueError:  # what the binding raises when the callback has stopped it
        return None


def parse_logged(
    data: bytes,
    grammar: tree_sitter.Language,
    log: Callable[[tree_sitter.LogType, str], None],
    is_enough: Callable[[], bool],
) -> None:
    """Parse UTF-8 bytes for the parser's log alone; end early once that is enough."""
    end = time.thread_time() + LOGGED_LIMIT_S

    def read(byte: int, _point: tree_sitter.Point) -> bytes:
        return data[byte : byte + CHUNK_BYTES]

    def is_over(_byte: int, _has_error: bool) -> bool:
        return is_enough() or time.thread_time() > end

    parser = tree_sitter.Parser(grammar)
    parser.logger = log
    with contextlib.suppress(
        ValueError
    ):  # what the binding raises when the callback has stopped it
        parser.parse(read, progress_callback=is_over)


def is_beyond_grammar(text: str, language: Language) -> bool:
    """Whether the text might crash the grammar, if everything that can nest were open at once."""
    if language.id == "ruby":
        return _is_beyond_ruby(text)
    return language.id == "yaml" and _is_beyond_yaml(text)


def _is_beyond_ruby(text: str) -> bool:
    names = [len(match[1].encode("utf-8", "replace")) for match in _HEREDOC.finditer(text)]
    state = sum(names) + BYTES_PER_HEREDOC * len(names) + BYTES_PER_STRING * text.count("#{")
    return state > MAX_STATE_BYTES or max(names, default=0) > MAX_NAME_BYTES


def _is_beyond_yaml(text: str) -> bool:
    """Each column that lines begin at may open as many collections as there are on one line."""
    num_columns = len({len(match[0]) for match in _INDENT.finditer(text)})
    num_on_line = max(
        (len(_OPENS_COLLECTION.findall(line)) for line in text.split("\n")), default=0
    )
    return num_columns * num_on_line > MAX_OPEN_COLLECTIONS
