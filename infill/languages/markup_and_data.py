"""Markup, style sheets, queries and data: languages without functions to fill."""

import re

from intarsia.infill.languages.language import PLAIN_STUB, TAG_HEADER, Grammar, Language, braces

_MAX_OPEN_COLLECTIONS = 200
"""Of YAML; each takes four bytes."""
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


LANGUAGES = (
    braces(
        "html",
        extensions=(".html", ".htm", ".xhtml"),
        header=TAG_HEADER,
        flush_header=None,
        ends=("-->",),
        takes_any_text=True,
        are_strings_prose=False,
        stub=PLAIN_STUB,
    ),
    braces(
        "css",
        extensions=(".css",),
        are_pairs_blocks=True,
        flush_header=None,
        are_strings_prose=False,
        modules="sourced",
        stub=PLAIN_STUB,
    ),
    braces(
        "json",
        aliases=("jsonc",),
        extensions=(".json", ".jsonc", ".webmanifest"),
        openers="{[",
        are_pairs_blocks=True,
        flush_header=None,
        are_strings_prose=False,
        has_bare_values=True,
        stub=PLAIN_STUB,
    ),
    Language(
        id="sql",
        aliases=("pgsql", "postgres"),
        extensions=(".sql",),
        grammar=Grammar(module="tree_sitter_sql"),
        block_style="closed",
        openers="(",
        has_macros=True,
        ends=("*/", "$$"),
        stub=PLAIN_STUB,
    ),
    Language(
        id="yaml",
        aliases=("dockercompose", "github-actions-workflow"),
        extensions=(".yaml", ".yml"),
        filenames=(".clang-format", ".clang-tidy"),
        grammar=Grammar(module="tree_sitter_yaml"),
        block_style="indent",
        header=r"(?:^|\s)[^#\s].*:(?:\s+[|>][+-]?\d?)?$|^\s*-$",
        takes_any_text=True,
        is_beyond_grammar=_is_beyond_yaml,
        are_strings_prose=False,
        has_bare_values=True,
        stub=PLAIN_STUB,
    ),
    Language(
        id="toml",
        extensions=(".toml",),
        filenames=("Pipfile",),
        grammar=Grammar(module="tree_sitter_toml"),
        block_style="closed",
        openers="[{",
        ends=('"""', "'''"),
        are_strings_prose=False,
        has_bare_values=True,
        stub=PLAIN_STUB,
    ),
    Language(
        id="markdown",
        aliases=("md",),
        extensions=(".md", ".markdown", ".mdx"),
        grammar=Grammar(module="tree_sitter_markdown"),
        ends=("```",),
        takes_any_text=True,
        has_fences=True,
        are_strings_prose=False,
        has_bare_values=True,
        stub=PLAIN_STUB,
    ),
)
