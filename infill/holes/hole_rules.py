"""What asks to be filled, language by language: one table row each. Any other text has only marks.

Comes in: a language; goes out: a row. The queries are tree-sitter's; no grammar is loaded here.
"""

import re
from dataclasses import dataclass, replace
from functools import cache

from intarsia.infill.languages import Language

STUB_EXTENSIONS = (".pyi",)
"""Files of declarations: what looks like an empty body in them is none."""

UNWRITTEN = re.compile(
    r"(?s)\s*(?:throw|raise|panic|assert)\b.*?"
    r"(?:NotImplemented|Unimplemented|(?i:\bnot\s+(?:yet\s+)?(?:been\s+)?implemented\b"
    r"|\bnot\s+supported\s+yet\b|\bunimplemented\b|\bto\s+be\s+implemented\b|\bimplement\s+me\b"
    r"|\bto-?do\b)).*"
)
"""A statement that says that the function which holds nothing else is still to be written."""

LATER = re.compile(r"\b(?:TODO|FIXME|XXX)\b")
"""A comment that says so."""

PLACEHOLDERS = frozenset({"pass", ":", ";", "..."})
"""Statements that do nothing: with such a comment they say so too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HoleRules:
    """A query by what it captures; none of the captures must be there.

    ``@named``: the body of an ``@owner`` with a name, which is a hole when it is empty;
    ``@function``: the body of any other ``@owner``, a hole when it only says that it is unwritten;
    ``@block``: any block, a hole when all it holds is a comment with a TODO; ``@anywhere``: a
    statement or expression that is a hole wherever it stands; ``@meant``: a body that is as it
    is meant to be.
    """

    language_ids: tuple[str, ...]
    query: str
    anywhere: re.Pattern[str] | None = None  # what the text of ``@anywhere`` must be, if not any
    names: frozenset[str] = frozenset()  # functions that are often empty on purpose


_JAVASCRIPT = HoleRules(
    language_ids=("javascript", "javascriptreact", "typescript", "typescriptreact"),
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
    language_ids=("c",),
    query="""
        (function_definition type: (_) body: (compound_statement) @named) @owner
        (function_definition body: (compound_statement) @function) @owner
        (compound_statement) @block
    """,
)

RULES: tuple[HoleRules, ...] = (
    HoleRules(
        language_ids=("python",),
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
    _JAVASCRIPT,
    HoleRules(
        language_ids=("java",),
        query="""
            (method_declaration body: (block) @named) @owner
            (constructor_declaration body: (constructor_body) @function) @owner
            (lambda_expression body: (block) @function) @owner
            [(block) (constructor_body)] @block
        """,
    ),
    _C,
    replace(
        _C,
        language_ids=("cpp",),
        query=_C.query + "(lambda_expression body: (compound_statement) @function) @owner",
    ),
    HoleRules(
        language_ids=("csharp",),
        query="""
            (method_declaration body: (block) @named) @owner
            (local_function_statement body: (block) @named) @owner
            (constructor_declaration body: (block) @function) @owner
            (accessor_declaration body: (block) @function) @owner
            (lambda_expression body: (block) @function) @owner
            (block) @block
            (arrow_expression_clause (throw_expression) @anywhere)
        """,
        anywhere=UNWRITTEN,
    ),
    HoleRules(
        language_ids=("go",),
        query="""
            (function_declaration body: (block) @named) @owner
            (method_declaration body: (block) @named) @owner
            (func_literal body: (block) @function) @owner
            (block) @block
        """,
    ),
    HoleRules(
        language_ids=("rust",),
        query="""
            (function_item body: (block) @named) @owner
            (closure_expression body: (block) @function) @owner
            (block) @block
            (expression_statement . (macro_invocation) .) @anywhere
            (macro_invocation) @anywhere
        """,
        anywhere=re.compile(r"(?s)(?:(?:std|core)::)?(?:todo|unimplemented)!.*"),
    ),
    HoleRules(
        language_ids=("ruby",),
        query="""
            (method) @named @owner
            (singleton_method) @named @owner
            [(method) (singleton_method)] @block
        """,
        names=frozenset({"initialize"}),
    ),
    HoleRules(
        language_ids=("php",),
        query="""
            (function_definition body: (compound_statement) @named) @owner
            (method_declaration body: (compound_statement) @named) @owner
            (anonymous_function body: (compound_statement) @function) @owner
            (compound_statement) @block
        """,
        names=frozenset({"__construct", "__destruct"}),
    ),
    HoleRules(
        language_ids=("shellscript",),
        query="""
            (function_definition body: (compound_statement) @named) @owner
            (compound_statement) @block
        """,
    ),
)


def rules_for(language: Language) -> HoleRules | None:
    """Return the row of a language; None where nothing but the user's marks can be found."""
    return _rows_by_id().get(language.id)


def is_stub(path: str) -> bool:
    """Whether a file by this name only declares things."""
    return path.lower().endswith(STUB_EXTENSIONS)


@cache
def _rows_by_id() -> dict[str, HoleRules]:
    return {name: row for row in RULES for name in row.language_ids}
