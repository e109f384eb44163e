"""Adds a name to a list of names in an import statement, such as ``{ a, b }``."""

import re
from collections.abc import Sequence

import tree_sitter

from intarsia.infill.imports.import_lines import insert_sorted
from intarsia.infill.replacement import Replacement
from intarsia.infill.syntax.lines import leading_blank, line_end, line_start, newline_of
from intarsia.infill.syntax.parse import Syntax

_ALIAS = re.compile(r"\s+as\s+|:")


def add_to_list(syntax: Syntax, names: Sequence[tree_sitter.Node], item: str) -> Replacement:
    """Return the splice that adds an item to a list of at least one name, in the list's order."""
    plain = [_plain((name.text or b"").decode("utf-8", "replace")) for name in names]
    at = insert_sorted(plain, _plain(item))
    text = syntax.text
    if at < len(names):
        start = syntax.offset_at(names[at].start_byte)
        separator = ", " if not _begins_line(text, start) else f",{_line_break(text, start)}"
        return Replacement(start=start, end=start, new=item + separator)
    first = syntax.offset_at(names[-1].start_byte)
    end = syntax.offset_at(names[-1].end_byte)
    if not _begins_line(text, first):
        return Replacement(start=end, end=end, new=f", {item}")
    line_break = _line_break(text, first)
    if text[end : end + 1] == ",":  # what follows on the line, such as a comment, stays there
        after = line_end(text, end)
        return Replacement(start=after, end=after, new=f"{line_break}{item},")
    return Replacement(start=end, end=end, new=f",{line_break}{item}")


def _plain(item: str) -> str:
    return _ALIAS.split(item.removeprefix("type "))[0].strip()


def _begins_line(text: str, offset: int) -> bool:
    return not text[line_start(text, offset) : offset].strip()


def _line_break(text: str, offset: int) -> str:
    return newline_of(text) + leading_blank(text[line_start(text, offset) : offset])
