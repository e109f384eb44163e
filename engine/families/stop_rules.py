"""Where a hole's text ends: by its request's stop texts, indentation and brackets, or in a loop."""

import re
from collections.abc import Sequence

from intarsia.engine.ipc.messages import Fill

_TAB_COLUMNS = 8
_OPENERS = {")": "(", "]": "[", "}": "{"}
_TOKEN = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\\n])*`|[()\[\]{}]")
"""A quoted string that ends on its line, or a bracket."""


LOOP_ROUNDS = 8
"""A text that ends with the same characters this many times in a row is given up.

These are more rounds than the cleaning of a text takes for a repetition. It keeps the first one.
"""

_LOOP_CHARS = range(4, 80)  # of one round
_HAS_WORD = re.compile(r"[^\W\d_]{2}")
_MAX_DIGITS = 64
"""Digits of a number at the end; the cleaning of a text takes fewer for one that does not end."""


def cut_at(end: int | None, pieces: Sequence[str]) -> list[str]:
    """Return the pieces before an offset; the last one is cut there."""
    if end is None:
        return list(pieces)
    kept = []
    for piece in pieces:
        if end <= 0:
            break
        kept.append(piece[:end])
        end -= len(piece)
    return kept


def find_text_end(text: str, request: Fill) -> int | None:
    """Return the offset where the hole ends, None while it has not ended.

    That is where the first stop text begins, or at the line break before a line indented by fewer
    than ``min_indent`` columns. Stop texts do not count while more than ``max_open`` brackets are
    open (None: they always count). A text that repeats itself over and over ends where it is:
    a model goes on with that until it has no more room.
    """
    ends = [_first_end(text, mark, request.max_open) for mark in request.stop if mark]
    ends += _outdents(text, request.min_indent) if request.min_indent > 0 else []
    found = min((end for end in ends if end is not None), default=None)
    return len(text) if found is None and _is_loop(text) else found


def may_end_here(text: str, *, max_open: int | None) -> bool:
    """Whether a hole may end after this text: the text after it closes ``max_open`` brackets."""
    return max_open is None or _num_open(text) <= max_open


def _first_end(text: str, mark: str, max_open: int | None) -> int | None:
    at = text.find(mark)
    while at >= 0 and not may_end_here(text[:at], max_open=max_open):
        at = text.find(mark, at + 1)
    return at if at >= 0 else None


def _is_loop(text: str) -> bool:
    """Whether the text ends with ``LOOP_ROUNDS`` equal rounds of words, or in an endless number."""
    if not text[-_MAX_DIGITS:].strip("0123456789_") and len(text) >= _MAX_DIGITS:
        return True
    for num_chars in _LOOP_CHARS:
        loop = text[-LOOP_ROUNDS * num_chars :]
        if len(loop) < LOOP_ROUNDS * num_chars:
            return False
        if loop[num_chars:] == loop[:-num_chars]:
            return _HAS_WORD.search(loop[: 2 * num_chars]) is not None
    return False


def _num_open(text: str) -> int:
    """Count the brackets that the text opens and does not close."""
    opened: list[str] = []
    for sign in _TOKEN.findall(text):
        if sign in _OPENERS.values():
            opened.append(sign)
        elif opened and opened[-1] == _OPENERS.get(sign):
            opened.pop()
    return len(opened)


def _outdents(text: str, min_indent: int) -> list[int]:
    """Return the line break before each later non-blank line that is indented too little."""
    breaks = []
    offset = text.find("\n")
    while offset >= 0:
        following = text.find("\n", offset + 1)
        line = text[offset + 1 : following if following >= 0 else None]
        if line.strip() and _indent(line) < min_indent:
            breaks.append(offset)
        offset = following
    return breaks


def _indent(line: str) -> int:
    columns = 0
    for sign in line:
        if sign == "\t":
            columns += _TAB_COLUMNS - columns % _TAB_COLUMNS
        elif sign == " ":
            columns += 1
        else:
            break
    return columns
