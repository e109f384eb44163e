"""Finds what a source file defines and imports."""

import re
from collections.abc import Sequence
from itertools import islice

from intarsia.infill.languages import Language
from intarsia.infill.syntax.parse import parse_afresh
from intarsia.workspace.symbols.found import Found, find_definitions, with_surroundings
from intarsia.workspace.symbols.imports import find_imports
from intarsia.workspace.symbols.query import has_query, run_query
from intarsia.workspace.symbols.signature import one_line, signature_of, type_of
from intarsia.workspace.symbols.symbols import Definition, DefinitionKind, FileSymbols

MAX_DEFINITIONS = 5_000
"""A file with more is a table of data; its first definitions are kept."""

_SEPARATOR = re.compile(r"::|\\")


def extract_symbols(text: str, language: Language) -> FileSymbols:
    """Return what a file defines and imports: of broken code, what can be found.

    Lines are separated by ``\\n``. A text beyond the limits of ``infill/syntax/parse.py``, or one
    that takes too long, has no symbols. The parser's recent texts are neither used nor replaced.
    """
    if not has_query(language):
        return FileSymbols()
    syntax = parse_afresh(text, language)
    if syntax is None:
        return FileSymbols()
    matches = run_query(syntax.tree, language)
    found = find_definitions(matches, syntax.data)
    return FileSymbols(definitions=_definitions(found), imports=find_imports(matches, syntax.data))


def _definitions(found: Sequence[Found]) -> tuple[Definition, ...]:
    """Return the definitions in the order of the text, each field and constant once."""
    definitions: list[Definition] = []
    places: dict[tuple[str, str], int] = {}
    named = (
        _definition(one, name, around)
        for one, around in with_surroundings(found)
        for name in one.names
    )
    for definition in islice(named, MAX_DEFINITIONS):
        if definition.kind in ("field", "constant"):
            known = places.setdefault((definition.container, definition.name), len(definitions))
            if known < len(definitions):
                if definition.type_name and not definitions[known].type_name:
                    definitions[known] = definition
                continue
        definitions.append(definition)
    return tuple(sorted(definitions, key=lambda one: one.start_line))


def _definition(one: Found, name: str, around: Sequence[Found]) -> Definition:
    containers = [_SEPARATOR.sub(".", outer.names[0]) for outer in around]
    is_member = bool(around) and around[-1].is_container
    for explicit in one.texts("container"):
        containers.append(_SEPARATOR.sub(".", explicit))
        is_member = True
    kind: DefinitionKind | None = "method" if is_member and one.is_function else one.kind
    assert kind is not None  # a scope is never yielded
    end = one.node.end_point
    return Definition(
        name=name,
        kind=kind,
        signature=signature_of(one),
        container=".".join(containers),
        bases=tuple(one_line(base) for base in one.texts("base")),
        type_name=type_of(one),
        start_line=one.node.start_point.row,
        end_line=max(end.row + (end.column > 0), one.node.start_point.row + 1),
    )
