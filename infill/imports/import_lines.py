"""The import lines of a file, in groups that blank lines separate, and where a new one goes."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from operator import eq
from typing import Any, TypeAlias

import tree_sitter

from intarsia.infill.replacement import Replacement
from intarsia.infill.syntax.text import (
    leading_blank,
    line_end,
    line_start,
    newline_of,
    next_line_start,
)
from intarsia.infill.syntax.tree import Syntax, node_text

_BLANK_LINE = re.compile(r"(?:\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)")


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportLine:
    """One import statement. ``path``: the parts of its module. Statements of different categories
    are not mixed; a lower category goes first."""

    path: tuple[str, ...]
    category: int
    start: int = 0
    end: int = 0
    is_from: bool = False  # of Python: it begins with "from"


def import_line(
    syntax: Syntax, node: tree_sitter.Node, path: Sequence[str], category: int
) -> ImportLine:
    start, end = syntax.offset_at(node.start_byte), syntax.offset_at(node.end_byte)
    return ImportLine(path=tuple(path), category=category, start=start, end=end)


Order: TypeAlias = Callable[[ImportLine], Any]
"""A key that a project may sort its imports by."""


def place_line(
    text: str,
    lines: Sequence[ImportLine],
    new: ImportLine,
    statement: str,
    orders: Sequence[Order],
    *,
    has_groups: bool = True,
) -> Replacement:
    """Return the splice that puts a statement among the import lines; there is at least one.

    It goes to its like, in their order. ``has_groups``: a first line of its category gets a group
    of its own.
    """
    groups = _groups(text, lines)
    alike = [group for group in groups if any(it.category == new.category for it in group)]
    if alike:
        group = max(alike, key=lambda it: max(_likeness(line, new) for line in it))
        return _into_group(text, group, new, statement, orders)
    before = [line for line in lines if line.category < new.category]
    gap = 2 if has_groups else 1
    if before:
        return after_line(text, before[-1].end, statement, num_ends=gap)
    return before_line(text, lines[0].start, statement, num_ends=gap)


def after_line(text: str, offset: int, statement: str, *, num_ends: int = 1) -> Replacement:
    """Return the splice that puts a statement on a line of its own after the line at an offset."""
    at = line_end(text, offset)
    newline = newline_of(text)
    return Replacement(start=at, end=at, new=newline * num_ends + statement)


def before_line(text: str, offset: int, statement: str, *, num_ends: int = 1) -> Replacement:
    """Return the splice that puts a statement on a line of its own before the line at an offset."""
    at = line_start(text, offset)
    return Replacement(start=at, end=at, new=statement + newline_of(text) * num_ends)


def _groups(text: str, lines: Sequence[ImportLine]) -> list[list[ImportLine]]:
    groups: list[list[ImportLine]] = []
    for line in lines:
        if groups and not _BLANK_LINE.search(text, groups[-1][-1].end, line.start):
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def _into_group(
    text: str, group: Sequence[ImportLine], new: ImportLine, statement: str, orders: Sequence[Order]
) -> Replacement:
    own = [line for line in group if line.category == new.category]
    for order in orders:
        keys = [order(line) for line in own]
        if len(own) > 1 and keys != sorted(keys):
            continue
        key = order(new)
        later = [line for line, other in zip(own, keys, strict=True) if other > key]
        if later:
            return before_line(text, later[0].start, statement)
        return after_line(text, own[-1].end, statement)
    nearest = max(reversed(own), key=lambda line: _likeness(line, new))
    return after_line(text, nearest.end, statement)


def _likeness(line: ImportLine, new: ImportLine) -> tuple[bool, int]:
    """Return whether two imports have the same category, and how many parts begin alike."""
    return line.category == new.category, num_alike(line.path, new.path)


def num_alike(some: Iterable[object], others: Iterable[object]) -> int:
    """Count the items that both begin with."""
    return sum(1 for _ in takewhile(bool, map(eq, some, others)))


def insert_sorted(names: Sequence[str], new: str) -> int:
    """Return where a name goes in a list of names: in its order, else at the end."""
    for key in _NAME_ORDERS:
        keys = [key(name) for name in names]
        if keys == sorted(keys):
            return sum(other <= key(new) for other in keys)
    return len(names)


_NAME_ORDERS: Sequence[Callable[[str], Any]] = (
    lambda name: name,
    str.lower,
    # As isort orders: constants, classes, then the rest.
    lambda name: ((0 if name.isupper() else 1 if name[:1].isupper() else 2), name.lower()),
    # As rustfmt orders: modules and functions, types, then constants.
    lambda name: ((2 if name.isupper() else 1 if name[:1].isupper() else 0), name),
)

_ALIAS = re.compile(r"\s+as\s+|:")


def add_to_list(syntax: Syntax, names: Sequence[tree_sitter.Node], item: str) -> Replacement:
    """Return the splice that adds an item to a list of at least one name, in the list's order."""
    plain = [_plain(node_text(name)) for name in names]
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
        if node.type in syntax.language.comments:
            comments_end = _line_after(text, stop)
            if text.startswith((*_FIRST_LINES, *_INNER_DOCS), start):
                end = comments_end
            continue
        if node.type in _STAYING or _is_directive(syntax, start, stop):
            end = comments_end = _line_after(text, stop)
            continue
        while end < start and not text[end : line_end(text, end)].strip():
            end = next_line_start(text, end)
        return end
    return max(end, comments_end)


def _is_directive(syntax: Syntax, start: int, stop: int) -> bool:
    """Whether a statement is a string of JavaScript that begins with "use"."""
    statement = syntax.text[start:stop].rstrip(";")
    rules = syntax.language.imports
    is_script = rules is not None and rules.style == "braces"
    return is_script and statement[1:4] == "use" and statement[:1] in "\"'"


def _line_after(text: str, offset: int) -> int:
    """Return the start of the next line; a comment of Rust ends after its line end."""
    if offset and text[offset - 1] == "\n":
        return offset
    return next_line_start(text, offset)


IMPORTS = frozenset(
    {
        "extern_crate_declaration",
        "future_import_statement",
        "import_declaration",
        "import_from_statement",
        "import_statement",
        "use_declaration",
    }
)
_DECLARATIONS = ("lexical_declaration", "variable_declaration")
_AROUND = ("ERROR", "mod_item", "declaration_list")  # what may hold imports of its own


def adds_one_import(before: Syntax, after: Syntax) -> bool:
    """Whether one import is new, or one has grown, and every other statement is as it was."""
    olds: Sequence[tree_sitter.Node] = [before.tree.root_node]
    news: Sequence[tree_sitter.Node] = [after.tree.root_node]
    while olds and (news[0].type in _AROUND or news[0].parent is None):
        olds, news = olds[0].named_children, news[0].named_children
        num_same = _num_same(olds, news)
        num_tail = _num_same(olds[num_same:][::-1], news[num_same:][::-1])
        olds, news = olds[num_same : len(olds) - num_tail], news[num_same : len(news) - num_tail]
        if len(news) != 1 or len(olds) > 1 or any(it.type != news[0].type for it in olds):
            return False
    if news[0].has_error or not all(map(_is_import, (*olds, *news))):
        return False
    new = news[0]
    is_single = new.type not in _DECLARATIONS or new.named_child_count == 1
    return bool(olds) or (is_single and new.start_point.row == new.end_point.row)


def _num_same(olds: Sequence[tree_sitter.Node], news: Sequence[tree_sitter.Node]) -> int:
    return num_alike(((it.type, it.text) for it in olds), ((it.type, it.text) for it in news))


def _is_import(node: tree_sitter.Node) -> bool:
    """Whether a statement is an import, or a declaration that requires a module first."""
    if node.type not in _DECLARATIONS:
        return node.type in IMPORTS
    declarator = node.named_child(0)
    call = None if declarator is None else declarator.child_by_field_name("value")
    function = None if call is None else call.child_by_field_name("function")
    return function is not None and function.text == b"require"
