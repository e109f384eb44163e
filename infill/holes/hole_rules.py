"""The table of placeholders: one row per language says which syntax nodes may be holes.

To add a language, add one ``HoleRules`` row to ``RULES``; the language itself is a row of
``infill/languages.py``. A language without a row has no holes but the user's marks. The queries are
in tree-sitter's query language; no grammar is loaded here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from intarsia.infill.languages import ECMASCRIPT_IDS

STUB_EXTENSIONS = (".pyi",)
"""Files of declarations, where an empty body is no hole."""

NOT_IMPLEMENTED = re.compile(
    r"(?s)\s*(?:throw|raise|panic|assert)\b.*?"
    r"(?:NotImplemented|Unimplemented|(?i:\bnot\s+(?:yet\s+)?(?:been\s+)?implemented\b"
    r"|\bnot\s+supported\s+yet\b|\bunimplemented\b|\bto\s+be\s+implemented\b|\bimplement\s+me\b"
    r"|\bto-?do\b)).*"
)
"""A statement such as ``raise NotImplementedError``: a function that holds only this is a hole."""

TODO = re.compile(r"\b(?:TODO|FIXME|XXX)\b")
"""A comment that says that code is still to be written."""

NO_OPS = frozenset({"pass", ":", ";", "..."})
"""Statements without effect: with a TODO comment they are holes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HoleRules:
    """One language's query. Its captures say when a node is a hole; all captures are optional.

    - ``@named``: the body of an ``@owner`` with a name; a hole if it is empty.
    - ``@function``: the body of any other ``@owner``; a hole if it says "not implemented".
    - ``@block``: any block; a hole if it holds only a TODO comment.
    - ``@anywhere``: a statement or expression that is a hole wherever it is found.
    - ``@meant``: a body that is empty on purpose.
    """

    query: str
    anywhere: re.Pattern[str] | None = None  # the text that ``@anywhere`` must have
    names: frozenset[str] = frozenset()  # functions that are often empty on purpose


_JAVASCRIPT = HoleRules(
    query="""
        (function_declaration body: (statement_block) @named) @owner
        (generator_function_declaration body: (statement_block) @named) @owner
        (method_definition body: (statement_block) @named) @owner
        (arrow_function body: (statement_block) @function) @owner
        (function_expression body: (statement_block) @function) @owner
        (statement_block) @block
    """,
    names=frozenset({"constructor"}),
)
_C = HoleRules(
    query="""
        (function_definition type: (_) body: (compound_statement) @named) @owner
        (function_definition body: (compound_statement) @function) @owner
        (compound_statement) @block
    """,
)

RULES: Mapping[str, HoleRules] = {
    "python": HoleRules(
        query="""
            (function_definition body: (block) @named) @owner
            (block) @block
            (expression_statement . (ellipsis) .) @anywhere
            (class_definition superclasses: (_) body: (block) @meant)
            (decorated_definition
              (decorator) @decorator
              definition: (function_definition body: (block) @meant)
              (#match? @decorator "overload|abstract"))
            (class_definition
              superclasses: (_) @bases
              body: (block [
                (function_definition body: (block) @meant)
                (decorated_definition definition: (function_definition body: (block) @meant))])
              (#match? @bases "Protocol"))
        """,
    ),
    **dict.fromkeys(ECMASCRIPT_IDS, _JAVASCRIPT),
    "java": HoleRules(
        query="""
            (method_declaration body: (block) @named) @owner
            (constructor_declaration body: (constructor_body) @function) @owner
            (lambda_expression body: (block) @function) @owner
            [(block) (constructor_body)] @block
        """,
    ),
    "c": _C,
    "cpp": replace(
        _C,
        query=_C.query + "(lambda_expression body: (compound_statement) @function) @owner",
    ),
    "csharp": HoleRules(
        query="""
            (method_declaration body: (block) @named) @owner
            (local_function_statement body: (block) @named) @owner
            (constructor_declaration body: (block) @function) @owner
            (accessor_declaration body: (block) @function) @owner
            (lambda_expression body: (block) @function) @owner
            (block) @block
            (arrow_expression_clause (throw_expression) @anywhere)
        """,
        anywhere=NOT_IMPLEMENTED,
    ),
    "go": HoleRules(
        query="""
            (function_declaration body: (block) @named) @owner
            (method_declaration body: (block) @named) @owner
            (func_literal body: (block) @function) @owner
            (block) @block
        """,
    ),
    "rust": HoleRules(
        query="""
            (function_item body: (block) @named) @owner
            (closure_expression body: (block) @function) @owner
            (block) @block
            (expression_statement . (macro_invocation) .) @anywhere
            (macro_invocation) @anywhere
        """,
        anywhere=re.compile(r"(?s)(?:(?:std|core)::)?(?:todo|unimplemented)!.*"),
    ),
    "ruby": HoleRules(
        query="""
            (method) @named @owner
            (singleton_method) @named @owner
            [(method) (singleton_method)] @block
        """,
        names=frozenset({"initialize"}),
    ),
    "php": HoleRules(
        query="""
            (function_definition body: (compound_statement) @named) @owner
            (method_declaration body: (compound_statement) @named) @owner
            (anonymous_function body: (compound_statement) @function) @owner
            (compound_statement) @block
        """,
        names=frozenset({"__construct", "__destruct"}),
    ),
    "shellscript": HoleRules(
        query="""
            (function_definition body: (compound_statement) @named) @owner
            (compound_statement) @block
        """,
    ),
    "kotlin": HoleRules(
        query="""
            (function_declaration (function_body (block) @named)) @owner
            (secondary_constructor (block) @function) @owner
            (block) @block
            (call_expression) @anywhere
        """,
        anywhere=re.compile(r"(?s)TODO\s*\(.*\)"),
    ),
    "swift": HoleRules(
        query="""
            (function_declaration body: (function_body) @named) @owner
            (init_declaration body: (function_body) @function) @owner
            (function_body) @block
        """,
    ),
    "scala": HoleRules(
        query="""
            (function_definition body: (block) @named) @owner
            (block) @block
            (operator_identifier) @anywhere
        """,
        anywhere=re.compile(r"\?\?\?"),
    ),
    "dart": HoleRules(
        query="""
            (function_body (block) @named) @owner
            (block) @block
        """,
    ),
    "zig": HoleRules(
        query="""
            (function_declaration body: (block) @named) @owner
            (block) @block
        """,
    ),
    "lua": HoleRules(
        query="""
            (function_declaration) @named @owner
            (function_definition) @function @owner
            [(function_declaration) (function_definition)] @block
        """,
    ),
    "elixir": HoleRules(
        query="""
            (call
              target: (identifier) @_keyword
              (do_block) @named
              (#any-of? @_keyword "def" "defp" "defmacro" "defmacrop")) @owner
            (do_block) @block
        """,
    ),
}
"""By the language's id; in one without a row only the user's marks can be found."""


def is_stub(path: str) -> bool:
    """Whether the file's name says that it holds only declarations."""
    return path.lower().endswith(STUB_EXTENSIONS)
