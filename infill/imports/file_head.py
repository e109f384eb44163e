"""Finds the end of a file's head: what must stay before its first import."""

import re

from intarsia.infill.syntax.lines import line_end, next_line_start
from intarsia.infill.syntax.nodes import COMMENTS
from intarsia.infill.syntax.parse import Syntax

_FIRST_LINES = ("#!", "# -*-", "# coding", "# vim:")
_STAYING = frozenset({"hash_bang_line", "inner_attribute_item", "shebang"})
_INNER_DOCS = ("//!", "/*!")


def head_end(syntax: Syntax) -> int:
    """Return where a line after the head starts.

    The head is a ``#!`` line, directives such as ``"use strict"``, inner attributes of Rust, and
    comments that a blank line separates from the code: a licence. Another comment belongs to the
    code below it.
    """
    text = syntax.text
    end = comments_end = 0
    for node in syntax.tree.root_node.named_children:
        start, stop = syntax.offset_at(node.start_byte), syntax.offset_at(node.end_byte)
        is_apart = bool(re.search(r"[\r\n]", text[comments_end:start]))
        if comments_end and is_apart:
            end = comments_end
        if node.type in COMMENTS:
            comments_end = _line_after(text, stop)
            if text.startswith((*_FIRST_LINES, *_INNER_DOCS), start):
                end = comments_end
            continue
        if node.type in _STAYING or _is_directive(syntax, start, stop):
            end = comments_end = _line_after(text, stop)
            continue
        return _without_blank_lines(text, end, start)
    return max(end, comments_end)


def _is_directive(syntax: Syntax, start: int, stop: int) -> bool:
    """Whether a statement is a string of JavaScript that begins with "use"."""
    statement = syntax.text[start:stop].rstrip(";")
    is_script = syntax.language.id.startswith(("javascript", "typescript"))
    return is_script and statement[1:4] == "use" and statement[:1] in "\"'"


def _line_after(text: str, offset: int) -> int:
    """Return the start of the next line; a comment of Rust ends after its line end."""
    if offset and text[offset - 1] == "\n":
        return offset
    return next_line_start(text, offset)


def _without_blank_lines(text: str, at: int, until: int) -> int:
    """Return where the first line that is not blank starts, from a line's start on."""
    while at < until and not text[at : line_end(text, at)].strip():
        at = next_line_start(text, at)
    return at
