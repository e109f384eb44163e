"""The import lines of a file, in groups that blank lines separate, and where a new one goes."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from intarsia.infill.replacement import Replacement
from intarsia.infill.syntax.lines import line_end, line_start, newline_of

_BLANK_LINE = re.compile(r"(?:\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)")


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportLine:
    """One import statement. ``path``: the parts of its module. Statements of different categories
    are not mixed; a lower category goes first."""

    start: int
    end: int
    path: tuple[str, ...]
    category: int
    is_from: bool = False  # of Python: it begins with "from"


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
    text: str,
    group: Sequence[ImportLine],
    new: ImportLine,
    statement: str,
    orders: Sequence[Order],
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
    num_alike = 0
    for one, other in zip(line.path, new.path, strict=False):
        if one != other:
            break
        num_alike += 1
    return line.category == new.category, num_alike


def insert_sorted(names: Sequence[str], new: str) -> int:
    """Return where a name goes in a list of names: in its order, else at the end."""
    for key in _NAME_ORDERS:
        keys = [key(name) for name in names]
        if keys == sorted(keys):
            return sum(other <= key(new) for other in keys)
    return len(names)


def _as_is(name: str) -> str:
    return name


def _constants_first(name: str) -> tuple[int, str]:
    """As isort orders: constants, classes, then the rest."""
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2), name.lower()


def _constants_last(name: str) -> tuple[int, str]:
    """As rustfmt orders: modules and functions, types, then constants."""
    return (2 if name.isupper() else 1 if name[:1].isupper() else 0), name


_NAME_ORDERS: Sequence[Callable[[str], Any]] = (
    _as_is,
    str.lower,
    _constants_first,
    _constants_last,
)
