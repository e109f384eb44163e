"""Takes one import out of a real file, so that a line which uses it lacks it."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import tree_sitter

from intarsia.infill.imports.binding import UnboundName
from intarsia.infill.imports.unbound import unbound_names
from intarsia.infill.languages import Language
from intarsia.infill.syntax.lines import line_end, line_start, next_line_start
from intarsia.infill.syntax.nodes import num_errors
from intarsia.infill.syntax.parse import Syntax, parse_afresh
from intarsia.workspace.symbols.extract import extract_symbols
from intarsia.workspace.symbols.given_names import GivenName, given_names

_MAX_USES = 20

_STATEMENTS = frozenset(
    {
        "import_declaration",
        "import_from_statement",
        "import_statement",
        "lexical_declaration",
        "use_declaration",
        "variable_declaration",
    }
)
_LISTS = frozenset({"import_from_statement", "named_imports", "object_pattern", "use_list"})
_LINES = frozenset({"import_spec"})


@dataclass(frozen=True, kw_only=True, slots=True)
class SeededHole:
    """``text`` lacks the import of ``given``, which ``text[start:end]``, a whole line, uses."""

    text: str
    given: GivenName
    unbound: UnboundName
    start: int
    end: int


def seeded_holes(
    text: str, language: Language, choice: random.Random, num_holes: int
) -> Iterator[SeededHole | GivenName]:
    """Yield holes of some imports; an import itself where no use of its name is found."""
    syntax = parse_afresh(text, language)
    given = _given(text, language)
    if syntax is None:
        return
    num_found = 0
    for one in choice.sample(given, len(given)):
        without = _without(syntax, one, language)
        if without is None:
            continue
        yield _hole(without, one, language) or one
        num_found += 1
        if num_found == num_holes:
            return


def _hole(text: str, given: GivenName, language: Language) -> SeededHole | None:
    """Return the hole at the first line that uses a name; None where no line does."""
    uses = re.finditer(rf"(?<!\w){re.escape(given.first)}(?!\w)", text)
    for match, _ in zip(uses, range(_MAX_USES), strict=False):
        start, end = line_start(text, match.start()), line_end(text, match.end())
        found = unbound_names(text, start, end, language)
        unbound = next((it for it in found if it.name == given.first), None)
        if unbound is not None:
            return SeededHole(text=text, given=given, unbound=unbound, start=start, end=end)
    return None


def _given(text: str, language: Language) -> Sequence[GivenName]:
    kinds = ("plain", "require", "static")
    found = given_names(extract_symbols(text, language))
    return [it for it in found if it.kind in kinds and it.module != "__future__"]


def _without(syntax: Syntax, given: GivenName, language: Language) -> str | None:
    """Return the text without one import, None where it cannot be taken out alone."""
    for node in syntax.tree.root_node.named_children:
        if node.type not in _STATEMENTS:
            continue
        for place in _places(node, given):
            changed = _cut(syntax, place)
            if changed is not None and _is_gone(syntax, changed, given, language):
                return changed
    return None


def _places(node: tree_sitter.Node, given: GivenName) -> Iterator[tree_sitter.Node]:
    """Yield the parts of a statement that may be the import of a name alone, the smallest first."""
    items = [it for it in _below(node) if it.parent is not None]
    last = given.local.rpartition(".")[2].encode()
    for item in items:
        parent = item.parent
        assert parent is not None
        is_item = parent.type in _LISTS and len(_items(parent)) > 1 and item in _items(parent)
        if is_item and (item.text or b"").endswith(last):
            yield item
        if item.type in _LINES:
            yield item
    yield node


def _below(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    for child in node.named_children:
        yield child
        yield from _below(child)


def _items(parent: tree_sitter.Node) -> list[tree_sitter.Node]:
    if parent.type == "import_from_statement":
        return parent.children_by_field_name("name")
    return [it for it in parent.named_children if "comment" not in it.type]


def _cut(syntax: Syntax, node: tree_sitter.Node) -> str | None:
    """Cut an item with its comma, or a statement with its lines."""
    text = syntax.text
    start, end = syntax.offset_at(node.start_byte), syntax.offset_at(node.end_byte)
    parent = node.parent
    if parent is not None and parent.type in _LISTS:
        items = _items(parent)
        at = items.index(node)
        if at + 1 < len(items):
            end = syntax.offset_at(items[at + 1].start_byte)
        else:
            start = syntax.offset_at(items[at - 1].end_byte)
        return text[:start] + text[end:]
    if text[line_start(text, start) : start].strip():
        return None
    return text[: line_start(text, start)] + text[next_line_start(text, end) :]


def _is_gone(syntax: Syntax, changed: str, given: GivenName, language: Language) -> bool:
    """Whether this import alone is missing now, and the text still parses as before."""
    before = [it for it in given_names(extract_symbols(syntax.text, language))]
    after = [it for it in given_names(extract_symbols(changed, language))]
    missing = [it for it in before if it not in after]
    now = parse_afresh(changed, language)
    is_same = now is not None and num_errors(now) <= num_errors(syntax)
    return is_same and missing == [given] and len(after) == len(before) - 1
