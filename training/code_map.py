"""Maps a whole text: whether each character is code, or part of a string or a comment.

Trees count UTF-8 bytes and texts count characters; ``offsets_of_bytes`` converts a whole text at
once. (``infill.syntax.nodes.is_code`` answers for a single offset.)
"""

import re
from collections.abc import Sequence
from functools import cache

import tree_sitter

from intarsia.infill.languages import Language
from intarsia.infill.syntax.grammar import load_grammar
from intarsia.infill.syntax.nodes import COMMENTS, INTERPOLATIONS, STRINGS
from intarsia.infill.syntax.parse import Syntax

CODE, STRING, COMMENT = range(3)

_RUN = re.compile(r"[\x00-\x7f]+|[^\x00-\x7f]")


def map_code(syntax: Syntax, prose: frozenset[str] = frozenset()) -> bytearray:
    """Return CODE, STRING or COMMENT for each character. Nodes of ``prose`` count as strings.

    Where strings and interpolations nest, the innermost one counts.
    """
    offsets = offsets_of_bytes(syntax.text)
    codes = bytearray(len(syntax.text))
    for first, minus_last, kind in sorted(_marked_ranges(syntax, prose)):
        start, end = offsets[first], offsets[-minus_last]
        codes[start:end] = bytes([kind]) * (end - start)
    return codes


def offsets_of_bytes(text: str) -> Sequence[int]:
    """Return the character offset of each UTF-8 byte of the text, and of the text's end."""
    if text.isascii():
        return range(len(text) + 1)
    offsets: list[int] = []
    for run in _RUN.finditer(text):
        if run.group().isascii():
            offsets.extend(range(run.start(), run.end()))
        else:
            offsets += [run.start()] * len(run.group().encode("utf-8", "replace"))
    return [*offsets, len(text)]


def _marked_ranges(syntax: Syntax, prose: frozenset[str]) -> set[tuple[int, int, int]]:
    """Return start, negative end (so that outer ranges sort before inner ones) and kind."""
    query = _query(syntax.language, prose)
    if query is None:
        return set()
    captures = tree_sitter.QueryCursor(query).captures(syntax.tree.root_node)
    return {
        (node.start_byte, -node.end_byte, kind)
        for kind, name in enumerate(("code", "string", "comment"))
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
        if grammar.id_for_node_kind(kind, True)  # no grammar has all of these kinds
    ]
    return tree_sitter.Query(grammar, "\n".join(patterns)) if patterns else None
