"""Finds what a source file defines and imports."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import get_args

import tree_sitter

from intarsia.infill.imports.binding import DEFAULT, package_name
from intarsia.infill.languages import Language
from intarsia.infill.syntax.tree import parse_afresh
from intarsia.workspace.symbols.query import Captures, has_query, run_query
from intarsia.workspace.symbols.symbols import (
    Definition,
    DefinitionKind,
    FileSymbols,
    Import,
    ImportedName,
    ImportKind,
)

_DEFINITION_KINDS: dict[str, DefinitionKind] = {
    f"definition.{kind}": kind for kind in get_args(DefinitionKind)
}
_STRENGTH = {"field": 0, "constant": 0, "function": 2, "method": 2}
"""If two patterns match one node, the stronger kind is meant: a constant that holds a function."""

_NAME_QUOTES = "\"'`"


@dataclass(kw_only=True, slots=True)
class Found:
    """A definition, or a scope that names a container, as its matches describe it."""

    node: tree_sitter.Node
    kind: DefinitionKind | None  # None: a scope
    data: bytes
    captures: Captures = field(default_factory=dict)
    parameter_types: dict[str, tree_sitter.Node] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the name, or all names of a declaration such as ``int x, y``."""
        return tuple(name for text in self.texts("name") if (name := _without_quotes(text)))

    @property
    def is_container(self) -> bool:
        """Whether a function in it is a method."""
        return self.kind in ("class", "type", None)

    @property
    def is_function(self) -> bool:
        return self.kind in ("function", "method")

    def first(self, name: str) -> tree_sitter.Node | None:
        nodes = self.captures.get(name)
        return nodes[0] if nodes else None

    def text(self, name: str) -> str:
        """Return the text of a capture, "" if there is none."""
        nodes = self.captures.get(name)
        return node_text(nodes[0], self.data) if nodes else ""

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the different texts of a capture, without those that broken code lacks."""
        nodes = self.captures.get(name, ())
        return tuple(dict.fromkeys(text for node in nodes if (text := node_text(node, self.data))))


def _without_quotes(name: str) -> str:
    name = name.strip()
    quote = name[:1]
    if quote != name[-1:] or quote not in _NAME_QUOTES:
        return name
    bare = name.strip(quote)
    return name if not bare or quote in bare else bare


def node_text(node: tree_sitter.Node, data: bytes) -> str:
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def find_definitions(matches: Sequence[Captures], data: bytes) -> list[Found]:
    """Return the definitions and scopes that have a name, in the order of the text."""
    by_node: dict[int, Found] = {}
    imports = {node.id for captures in matches for node in captures.get("import", ())}
    for captures in matches:
        kind = next((_DEFINITION_KINDS[key] for key in captures if key in _DEFINITION_KINDS), None)
        nodes = captures.get("scope" if kind is None else f"definition.{kind}")
        if nodes is None or nodes[0].id in imports:  # const fs = require("fs")
            continue
        one = by_node.get(nodes[0].id)
        if one is None:
            one = by_node[nodes[0].id] = Found(node=nodes[0], kind=kind, data=data)
        elif _strength(kind) > _strength(one.kind):
            one.kind = kind
        for name, more in captures.items():
            one.captures.setdefault(name, []).extend(more)
    named = [one for one in by_node.values() if one.names]
    found = sorted(named, key=lambda one: (one.node.start_byte, -one.node.end_byte))
    _attach(found, matches)
    return found


def with_surroundings(found: Sequence[Found]) -> Iterator[tuple[Found, list[Found]]]:
    """Yield the definitions that other files can see, each with what is around it."""
    stack: list[Found] = []
    for one in found:
        while stack and stack[-1].node.end_byte <= one.node.start_byte:
            stack.pop()
        around = list(stack)
        if "hoisted" in one.captures:
            while around and not around[-1].is_container:
                types = around.pop().parameter_types  # ``self.client = client`` has one of these
                if "type" not in one.captures and (value := one.text("value")) in types:
                    one.captures["type"] = [types[value]]
            if not around:
                continue
        if any(outer.is_function for outer in around):
            continue
        if one.kind is not None:
            yield one, around
        stack.append(one)


def _strength(kind: DefinitionKind | None) -> int:
    return -1 if kind is None else _STRENGTH.get(kind, 1)


def _attach(found: Sequence[Found], matches: Sequence[Captures]) -> None:
    """Give a decorator to the definition after it, other parts to the one that they are in."""
    starts = [one.node.start_byte for one in found]
    for captures in matches:
        for node in captures.get("decorator", ()):
            at = bisect_left(starts, node.start_byte)
            if at < len(found):
                found[at].captures.setdefault("decorator", []).append(node)
        for node in captures.get("parameter", ()):
            at = bisect_right(starts, node.start_byte) - 1
            if at >= 0:
                types = found[at].parameter_types
                types.setdefault(node_text(node, found[at].data), captures["parameter.type"][0])
        for node in captures.get("hidden", ()):
            at = bisect_right(starts, node.start_byte) - 1
            if at >= 0:
                found[at].captures.setdefault("hidden", []).append(node)


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

    Lines are separated by ``\\n``. A text beyond the limits of ``infill/syntax/tree.py``, or one
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


MAX_IMPORTS = 2_000

_ALL = {"_": "*"}
"""The wildcard of imports in Scala before version 3."""

_KINDS: tuple[ImportKind, ...] = ("require", "static", "export", "submodule")

_PATH_SEPARATOR = re.compile(r"[:\\\\./]+")
_QUOTES = "\"'`<>"


@dataclass(kw_only=True, slots=True)
class _Import:
    module: str
    line: int
    local: str = ""
    kind: ImportKind = "plain"
    is_nested: bool
    names: dict[tuple[str, str], bool] = field(default_factory=dict)  # whether it is a type


def find_imports(matches: Sequence[Captures], data: bytes) -> tuple[Import, ...]:
    """Return the imports in the order of the text; one statement may import several modules."""
    found: dict[tuple[int, str], _Import] = {}
    for captures in matches:
        nodes = captures.get("import")
        if nodes is None or not captures.keys() & {"import.module", "import.path"}:
            continue
        module, path_name = _module(captures, data)
        if not module:
            continue
        one = found.setdefault(
            (nodes[0].start_byte, module),
            _Import(
                module=module,
                line=nodes[0].start_point.row,
                is_nested=nodes[0].start_point.column > 0,
            ),
        )
        if path_name:
            local = _text(captures, "alias", data) or path_name
            _add_name(one, path_name, local, captures)
        elif "import.name" in captures or "import.default" in captures:
            name = _text(captures, "name", data).strip(_QUOTES) or DEFAULT
            name = _ALL.get(name, name)
            _add_name(one, name, _text(captures, "alias", data) or name, captures)
        one.kind = next((it for it in _KINDS if f"import.{it}" in captures), one.kind)
        one.local = _text(captures, "local", data) or one.local or _last_part(captures, data)
    return tuple(
        Import(
            module=one.module,
            names=tuple(
                ImportedName(name=name, local=local, is_type=is_type)
                for (name, local), is_type in one.names.items()
            ),
            local=one.local,
            line=one.line,
            kind=one.kind,
            is_nested=one.is_nested,
        )
        for _, one in sorted(found.items(), key=lambda item: item[0][0])[:MAX_IMPORTS]
    )


def _add_name(one: _Import, name: str, local: str, captures: Captures) -> None:
    one.names[name, local] = one.names.get((name, local), False) or "import.type" in captures


def _module(captures: Captures, data: bytes) -> tuple[str, str]:
    """Return the module as it is written, and the name that is the end of a whole path."""
    if "import.path" in captures:
        return _split_path(_text(captures, "path", data), "import.name" in captures)
    module = _text(captures, "module", data).strip().strip(_QUOTES)
    parent = captures.get("import.parent")
    if parent is None:
        return module, ""
    rest = data[parent[0].end_byte : captures["import.module"][0].start_byte]
    separator = _PATH_SEPARATOR.match(rest.decode("utf-8", "replace"))
    return node_text(parent[0], data) + (separator[0] if separator else "") + module, ""


def _split_path(statement: str, has_names: bool) -> tuple[str, str]:
    """Return module and last name of ``import a.b.C``; of ``a.b.{C, D}``, the module alone."""
    path = "".join(statement.removeprefix("import ").split())
    plain = path.partition("{")[0].rstrip("*_").rstrip(".")
    if has_names:
        return plain, ""
    if plain != path:  # another match has the names
        return "", ""
    module, _, name = path.rpartition(".")
    return module, name


def _last_part(captures: Captures, data: bytes) -> str:
    """Return the name that the last part of a path tells: ``chi`` of ``go-chi/chi/v5``."""
    path = _text(captures, "last", data).strip(_QUOTES)
    return package_name(path) if "/" in path else path.rpartition(".")[2]


def _text(captures: Captures, name: str, data: bytes) -> str:
    nodes = captures.get(f"import.{name}")
    return node_text(nodes[0], data) if nodes else ""
