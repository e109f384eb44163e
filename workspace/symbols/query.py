"""Runs the tree-sitter query of a language on a text, and returns its matches.

The query of a language is ``queries/<language id>.scm``. Where the first line is
``; inherits: NAME``, the query of that name comes first. HTML, JSON, TOML and YAML have no query:
other files use none of their names.

Each match describes a definition (``@definition.KIND``), a scope, an import, or a decorator. The
captures:

- ``@definition.KIND``: the whole definition. KIND is a ``DefinitionKind``; a function in a class
  becomes a method. A definition inside the body of a function is not kept.
- ``@name``: its name. ``@body``: what its signature leaves out. ``@value``: shown if it is short.
- ``@keyword``: a word before the definition that belongs to its signature, such as ``const``.
- ``@type``: the declared type, or what a function returns. ``@base``: what a class extends.
- ``@container``: a class that is named in the definition's header, such as a Go receiver.
- ``@hoisted``: marks a definition in a method that belongs to the class, such as ``self.x = 1``.
- ``@parameter`` with ``@parameter.type``: of a function; a hoisted field has its type if the
  parameter is its ``@value``.
- ``@hidden``: a part of a header that no signature shows, such as a comment or an annotation.
- ``@scope`` with ``@name``: names a container without defining it, such as a Rust ``impl``.
- ``@decorator``: put before the signature of the next definition.
- ``@import``: an import, with ``@import.module`` and, for each name, ``@import.name`` and perhaps
  ``@import.alias``; or ``@import.local``, the name that a whole module has in this file.
  ``@import.default`` marks the import of a module's main export, ``@import.last`` a path that
  gives its last part as that name, and ``@import.parent`` what comes before braces.
  ``@import.require``, ``@import.static``, ``@import.export`` and ``@import.submodule`` mark its
  ``ImportKind``, ``@import.type`` a name that is a type only. ``@import.path`` has module and
  name in one, such as ``a.b.Name``.
- Names that begin with ``_`` are for the query's own predicates.

Matches with the same definition node add up, so that a pattern may give only a base or a type.
"""

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TypeAlias

import tree_sitter

from intarsia.infill.languages import Language
from intarsia.infill.syntax.tree import load_grammar

MAX_STEPS = 20_000_000
MIN_UNFINISHED, MAX_UNFINISHED = 64, 2_048
"""Bounds the time: each node may go on with each unfinished match, so a long text gets few.

The oldest are given up, as in an import of ten thousand names. A time limit would be better, but
the query's progress callback crashes in tree-sitter 0.26.
"""

Captures: TypeAlias = dict[str, list[tree_sitter.Node]]

_INHERITS = re.compile(r"; inherits: (\w+)\n")


def has_query(language: Language) -> bool:
    """Whether symbols of this language can be found at all."""
    return language.grammar != "" and _source_of(language.id) is not None


def run_query(tree: tree_sitter.Tree, language: Language) -> Sequence[Captures]:
    """Return the captures of each match; none if the language has no query."""
    query = _query_of(language)
    if query is None:
        return ()
    root = tree.root_node
    num_unfinished = MAX_STEPS // max(1, root.end_byte)
    cursor = tree_sitter.QueryCursor(
        query, match_limit=min(max(num_unfinished, MIN_UNFINISHED), MAX_UNFINISHED)
    )
    return [captures for _, captures in cursor.matches(root)]


@cache
def _query_of(language: Language) -> tree_sitter.Query | None:
    """Compile a query once. It stays in memory; there are fewer than thirty."""
    source = _source_of(language.id)
    if source is None or not language.grammar:
        return None
    return tree_sitter.Query(load_grammar(language.grammar), source)


@cache
def _source_of(name: str) -> str | None:
    """Return the text of a query after what it inherits, None if there is no such query."""
    file = files("intarsia.workspace.symbols").joinpath("queries", f"{name}.scm")
    if not file.is_file():
        return None
    source = file.read_text(encoding="utf-8")
    parent = _INHERITS.match(source)
    return source if parent is None else f"{_source_of(parent[1])}\n{source}"
