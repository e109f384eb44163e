"""Chooses import statements of a file's head, to be shown before a prefix that begins below them.

They name what other files offer to all of the file. Nothing else of the head is shown.
"""

import re
from functools import lru_cache
from textwrap import dedent

from intarsia.infill.syntax.lines import (
    leading_blank,
    line_end,
    next_line_start,
    with_plain_newlines,
)
from intarsia.infill.syntax.nodes import is_code
from intarsia.infill.syntax.parse import Syntax

HEAD_CHARS = 12_000
"""How much of a file is looked at."""

_IMPORT = (
    r"(?:@\w+[ \t]+)?import\b(?![ \t]*(?:[:.,;)]|[(=][^\r\n]))|from[ \t]+[\w.]+[ \t]+import\b"
    r"|#[ \t]*(?:include|import)\b|(?:pub(?:\([\w: ]+\))?[ \t]+)?use[ \t]+[\w\\:{]"
    r"|extern[ \t]+crate\b|(?:global[ \t]+)?using[ \t][\w.:= \t]+;|alias[ \t]+[A-Z]"
    r"|(?:const|let|var|local)\b[^=\r\n]{1,200}=[ \t]*(?:require|@import)\b"
)
_LINE = re.compile(rf"(?<![^\r\n\ufeff])(?:(?P<statement>[ \t]*(?:{_IMPORT}))|[^\s)\]}}])")
_MAY_HOLD = re.compile(r"(?:if|else|try|except|defmodule)\b|#[ \t]*if|<script")
"""Begins a line whose indented lines may be imports of the whole file."""

_OF_PROJECT = re.compile(
    r"""\bfrom[ \t]+\.|["'](?:[.#]|[@~]/)|\b(?:crate|super)::|#[ \t]*include[ \t]*\""""
)


def imports_above(text: str, end: int, max_chars: int, syntax: Syntax) -> str:
    """Return imports that end before ``end``, one below the other, and a blank line; "" for none.

    If not all fit, those that plainly mean a file of the project go before others, and later ones
    before earlier ones: a package's own come last by custom. A long list loses its first lines.
    """
    found = [it for it in _statements(text[:HEAD_CHARS]) if it[1] <= end]
    ranked = sorted(found, key=lambda it: (not _OF_PROJECT.search(text, *it), -it[0]))
    kept: dict[int, str] = {}
    room = max_chars - 1
    for start, stop in ranked:
        lines = dedent(with_plain_newlines(text[start:stop])).split("\n")
        while len("\n".join(lines)) >= room and len(lines) > 3:
            del lines[1]
        statement = "\n".join(lines)
        word = start + len(leading_blank(text[start:stop]))
        if len(statement) < room and is_code(syntax, word):
            kept[start] = statement
            room -= len(statement) + 1
    return "".join(f"{kept[start]}\n" for start in sorted(kept)) + "\n" * bool(kept)


@lru_cache(maxsize=8)
def _statements(head: str) -> tuple[tuple[int, int], ...]:
    """Return where imports begin and end; after one that is not closed, nothing is looked for."""
    found: list[tuple[int, int]] = []
    may_hold = False
    for line in _LINE.finditer(head):
        start = line.start()
        if line["statement"] is None:
            may_hold = _MAY_HOLD.match(head, start) is not None
        elif may_hold or not line["statement"][0].isspace():
            stop = _statement_end(head, start)
            if stop == len(head):
                break
            found.append((start, stop))
    return tuple(found)


def _statement_end(head: str, start: int) -> int:
    """Return where the line ends on which all brackets are closed that the statement opens."""
    num_open = 0
    while start < len(head):
        end = line_end(head, start)
        line = head[start:end].rstrip()
        num_open += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
        if num_open <= 0 and not line.endswith((",", "\\")):
            return end
        start = next_line_start(head, end)
    return len(head)
