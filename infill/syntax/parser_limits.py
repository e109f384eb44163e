"""Keeps parsing within bounds: a time limit, and texts on which a grammar would crash the process.

Ruby's grammar keeps the names of open heredocs, and the strings that interpolations nest, in 1,024
bytes and miscounts at the edge. While a name's quote is still to be typed, the name may run to the
end of the text. Fixed after 0.23.1, not yet released:
https://github.com/tree-sitter/tree-sitter-ruby/issues/269

YAML's grammar keeps the columns of open collections, which it writes past the end of the same 1,024
bytes: 255 on one line end the process (0.7.2).

Python's grammar does the same with open blocks, two bytes each, and open strings: with a string
open in the 511th block it writes past the end (0.25.0).
"""

import contextlib
import re
import threading
import time
from collections.abc import Callable

import tree_sitter

from intarsia.infill.languages import Language
from intarsia.infill.syntax.lines import line_start

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

MAX_STATE_BYTES = 1_000
MAX_NAME_BYTES = 250
BYTES_PER_HEREDOC = 4
BYTES_PER_STRING = 5

MAX_OPEN_COLLECTIONS = 200
"""Of YAML; each takes four bytes."""

_NAME = r"\"[^\"]{0,255}|'[^']{0,255}|`[^`]{0,255}|\w{1,255}"
_HEREDOC = re.compile(rf"(?=<<[~-]?({_NAME}))")  # ahead only: one may begin within another's name

MAX_OPEN_BLOCKS = 350
"""Of Python; each takes two bytes, and up to 255 open strings take one each."""
FEWEST_INDENT_CHARS = MAX_OPEN_BLOCKS // 8
"""With more blocks than that, one line begins with at least as many blanks, even of tabs."""

_PYTHON_INDENT = re.compile(r"(?<![^\n\r\f])[ \t]*")
_DEEP_INDENT = re.compile(rf"[ \t]{{{FEWEST_INDENT_CHARS}}}")
_CONTINUATION = re.compile(r"\\[\r\n]")
_INDENT = re.compile(r"^[ \t]*", re.MULTILINE)
_OPENS_COLLECTION = re.compile(r"[-?:](?=\s|$)")


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
    """What a parser was given last, one object for each thread.

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
    if language.id == "ruby":
        return _is_beyond_ruby(text)
    if language.id == "python":
        return _is_beyond_python(text)
    return language.id == "yaml" and _is_beyond_yaml(text)


def _is_beyond_ruby(text: str) -> bool:
    names = [len(match[1].encode("utf-8", "replace")) for match in _HEREDOC.finditer(text)]
    state = sum(names) + BYTES_PER_HEREDOC * len(names) + BYTES_PER_STRING * text.count("#{")
    return state > MAX_STATE_BYTES or max(names, default=0) > MAX_NAME_BYTES


def _is_beyond_python(text: str) -> bool:
    """Each block is indented further than the one around it. Blanks may go on in the next line."""
    continuations = (match.start() for match in _CONTINUATION.finditer(text))
    num_continued = sum(not text[line_start(text, at) : at].strip(" \t\f") for at in continuations)
    is_deep = " " * FEWEST_INDENT_CHARS in text or ("\t" in text and _DEEP_INDENT.search(text))
    if not is_deep and not num_continued:
        return False
    num_columns = len({match[0] for match in _PYTHON_INDENT.finditer(text)})
    return num_columns * (1 + num_continued) > MAX_OPEN_BLOCKS


def _is_beyond_yaml(text: str) -> bool:
    """Each column that lines begin at may open as many collections as there are on one line."""
    num_columns = len({len(match[0]) for match in _INDENT.finditer(text)})
    num_on_line = max(
        (len(_OPENS_COLLECTION.findall(line)) for line in text.split("\n")), default=0
    )
    return num_columns * num_on_line > MAX_OPEN_COLLECTIONS
