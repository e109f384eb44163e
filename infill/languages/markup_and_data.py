"""Markup, style sheets, queries and data: languages without functions to fill."""

import re

from msgspec.structs import replace

from intarsia.infill.languages import PLAIN_STUB, TAG_HEADER, Language, braces

_MAX_OPEN_COLLECTIONS = 200
"""The most blocks of YAML inside each other; each takes four bytes."""
_INDENT = r"(?m)^[ \t]*"
_OPENS_COLLECTION = r"[-?:](?=\s|$)"


def _is_beyond_yaml(text: str) -> bool:
    """Each column that lines begin at may open as many collections as there are on one line.

    The grammar (0.7.2) keeps the columns of open collections, which it writes past the end of
    1,024 bytes: 255 on one line end the process.
    """
    num_columns = len({len(match[0]) for match in re.finditer(_INDENT, text)})
    num_on_line = max(len(re.findall(_OPENS_COLLECTION, line)) for line in text.split("\n"))
    return num_columns * num_on_line > _MAX_OPEN_COLLECTIONS


HTML = braces(
    "html",
    extensions=(".html", ".htm", ".xhtml"),
    header=TAG_HEADER,
    ends=("-->",),
    takes_any_text=True,
    are_strings_prose=False,
    stub=PLAIN_STUB,
    embeds="scripts",
)
VUE = replace(HTML, id="vue", extensions=(".vue",), lexer="html")
SVELTE = replace(HTML, id="svelte", extensions=(".svelte",), lexer="html")
CSS = braces(
    "css",
    tags=("style",),
    are_pairs_blocks=True,
    are_strings_prose=False,
    modules="sourced",
    stub=PLAIN_STUB,
)
JSON = braces(
    "json",
    aliases=("jsonc",),
    extensions=(".json", ".jsonc", ".webmanifest"),
    openers="{[",
    are_pairs_blocks=True,
    are_strings_prose=False,
    has_bare_values=True,
    stub=PLAIN_STUB,
)
SQL = Language(
    id="sql",
    aliases=("pgsql", "postgres"),
    extensions=(".sql",),
    grammar="tree_sitter_sql",
    block_style="closed",
    openers="(",
    has_macros=True,
    has_clauses=True,
    ends=("*/", "$$"),
    stub=PLAIN_STUB,
)
_DATA = Language(id="", are_strings_prose=False, has_bare_values=True, stub=PLAIN_STUB)
YAML = replace(
    _DATA,
    id="yaml",
    aliases=("dockercompose", "github-actions-workflow"),
    extensions=(".yaml", ".yml"),
    filenames=(".clang-format", ".clang-tidy"),
    grammar="tree_sitter_yaml",
    block_style="indent",
    header=r"(?:^|\s)[^#\s].*:(?:\s+[|>][+-]?\d?)?$|^\s*-$",
    takes_any_text=True,
    is_beyond_grammar=_is_beyond_yaml,
)
TOML = replace(
    _DATA,
    id="toml",
    extensions=(".toml",),
    filenames=("Pipfile",),
    grammar="tree_sitter_toml",
    block_style="closed",
    openers="[{",
    once=r"\[[^\[\]]+\]",
    ends=('"""', "'''"),
)
MARKDOWN = replace(
    _DATA,
    id="markdown",
    aliases=("md",),
    extensions=(".md", ".markdown", ".mdx"),
    grammar="tree_sitter_markdown",
    ends=("```",),
    takes_any_text=True,
    embeds="fences",
)
