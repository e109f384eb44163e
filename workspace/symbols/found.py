"""Gathers the matches of a query into definitions, each with what is around it."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import get_args

import tree_sitter

from intarsia.workspace.symbols.query import Captures
from intarsia.workspace.symbols.symbols import DefinitionKind

_KINDS: dict[str, DefinitionKind] = {
    f"definition.{kind}": kind for kind in get_args(DefinitionKind)
}
_STRENGTH = {"field": 0, "constant": 0, "function": 2, "method": 2}
"""If two patterns match one node, the stronger kind is meant: a constant that holds a function."""

_QUOTES = "\"'`"


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
    if quote != name[-1:] or quote not in _QUOTES:
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
        kind = next((_KINDS[key] for key in captures if key in _KINDS), None)
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
