"""Finds what a source file defines and imports."""

import re
from collections.abc import Sequence
from itertools import islice

from intarsia.infill.languages import Language
from intarsia.infill.syntax.parse import parse_afresh
from intarsia.workspace.symbols.found import Found, find_definitions, node_text, with_surroundings
from intarsia.workspace.symbols.imports import find_imports
from intarsia.workspace.symbols.query import has_query, run_query
from intarsia.workspace.symbols.symbols import Definition, DefinitionKind, FileSymbols

MAX_SIGNATURE_CHARS = 300
MAX_VALUE_CHARS = 60
MAX_DECORATOR_CHARS = 60

_LINE_AFTER_OPENER = re.compile(r"([(\[])\s*\n\s*")
_LINE_BEFORE_CLOSER = re.compile(r",?\s*\n\s*([)\]])")
_TYPE_MARK = re.compile(r"^(?:->|:(?!:))\s*")
_INFERRED = "auto"  # of C++: the type comes later, or the compiler finds it
_CUT = "..."


def signature_of(one: Found) -> str:
    """Return decorators and header; a value stays if it is short, else three dots replace it.

    What only leads to a body at the end, such as ``{``, ``:`` or ``=>``, is left out.
    """
    names = one.names
    body = one.first("body")
    value = one.first("value") if len(names) == 1 else None
    end = one.node.end_byte
    is_long = False
    if body is not None:
        end = body.start_byte
    elif value is not None:
        shown = node_text(value, one.data)
        is_long = len(shown) > MAX_VALUE_CHARS or "\n" in shown
        end = value.start_byte if is_long else value.end_byte
    header = one_line(_without_hidden(one, end))
    if is_long:
        header = f"{header} {_CUT}"
    else:
        for opener in ("=>", "{", ":", "=", ";", ","):
            header = header.removesuffix(opener).rstrip()
        if names[0] not in header:  # typedef struct {...} Name
            header = f"{header} {names[0]}"
    keyword = one.text("keyword")
    decorators = [shorten(one_line(it), MAX_DECORATOR_CHARS) for it in one.texts("decorator")]
    parts = [*decorators, f"{keyword} {header}" if keyword else header]
    return shorten(" ".join(parts), MAX_SIGNATURE_CHARS)


def type_of(one: Found) -> str:
    """Return the declared type on one line, without the mark before it."""
    type_name = next((text for text in one.texts("type") if text != _INFERRED), "")
    return shorten(_TYPE_MARK.sub("", one_line(type_name)), MAX_SIGNATURE_CHARS)


def one_line(text: str) -> str:
    """Return a text on one line, as its author would have written it there."""
    if "\n" in text:
        text = _LINE_AFTER_OPENER.sub(r"\1", text)
        text = _LINE_BEFORE_CLOSER.sub(r"\1", text)
    return " ".join(text.split())


def shorten(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[: max_chars - len(_CUT)].rstrip() + _CUT


def _without_hidden(one: Found, end: int) -> str:
    """Return the text from the definition's start to a byte, without its hidden parts."""
    kept = []
    at = one.node.start_byte
    for node in one.captures.get("hidden", ()):
        if at <= node.start_byte and node.end_byte <= end:
            kept.append(one.data[at : node.start_byte])
            at = node.end_byte
            while one.data[at : at + 1].isspace():
                at += 1
    kept.append(one.data[at:end])
    return b"".join(kept).decode("utf-8", "replace")


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
