"""Says of every character of a text whether it is code, or part of a string or of a comment.

Comes in: a parsed text; goes out: one byte a character. ``nodes.is_code`` is for one place.
"""

import re
from collections.abc import Sequence
from functools import cache

import tree_sitter

from intarsia.infill.languages import Language
from intarsia.infill.syntax.grammar import load_grammar
from intarsia.infill.syntax.nodes import COMMENTS, INTERPOLATIONS, STRINGS
from intarsia.infill.syntax.parse import Syntax

_RUN = re.compile(r"[\x00-\x7f]+|[^\x00-\x7f]")


def offsets_of_bytes(text: str) -> Sequence[int]:
    """Return for each byte of the text in UTF-8, and for its end, where its character stands."""
    if text.isascii():
        return range(len(text) + 1)
    offsets: list[int] = []
    for run in _RUN.finditer(text):
        if run.group().isascii():
            offsets.extend(range(run.start(), run.end()))
        else:
            offsets += [run.start()] * len(run.group().encode("utf-8", "replace"))
    return [*offsets, len(text)]


CODE, STRING, COMMENT = range(3)


def map_code(syntax: Syntax, prose: frozenset[str] = frozenset()) -> bytearray:
    """Return what each character is. Nodes of ``prose`` count as strings.

    Where strings and interpolations nest, the innermost of them counts.
    """
    offsets = offsets_of_bytes(syntax.text)
    codes = bytearray(len(syntax.text))
    for first, minus_last, code in sorted(_stretches(syntax, prose)):
        start, end = offsets[first], offsets[-minus_last]
        codes[start:end] = bytes([code]) * (end - start)
    return codes


def _stretches(syntax: Syntax, prose: frozenset[str]) -> set[tuple[int, int, int]]:
    """Return start, negative end (so that sorted the outer come first) and what it is."""
    query = _query(syntax.language, prose)
    if query is None:
        return set()
    captures = tree_sitter.QueryCursor(query).captures(syntax.tree.root_node)
    return {
        (node.start_byte, -node.end_byte, code)
        for code, name in enumerate(("code", "string", "comment"))
        for node in captures.get(name, ())
    }


@cache
def _query(language: Language, prose: frozenset[str]) -> tree_sitter.Query | None:
    assert language.grammar is not None, "a text without a grammar is not parsed"
    grammar = load_grammar(language.grammar)
    patterns = [
        f"({kind}) @{name}"
        for name, kinds in (
            ("code", INTERPOLATIONS),
            ("string", STRINGS | prose),
            ("comment", COMMENTS),
        )
        for kind in sorted(kinds)
        if grammar.id_for_node_kind(kind, True)  # each grammar has its own words
    ]
    return tree_sitter.Query(grammar, "\n".join(patterns)) if patterns else None
