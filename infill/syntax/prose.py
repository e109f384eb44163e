"""Where the text of a file is prose: in comments, documentation and string literals.

Nothing is prose in files of data or markup: there, strings are the content. Nor is a string that
names something: a key, a module, a variable, one of several words.
"""

import re
from typing import Literal, TypeAlias

from intarsia.infill.syntax.brackets import PAIRS, open_marks
from intarsia.infill.syntax.lines import line_start
from intarsia.infill.syntax.nodes import comment_at, is_inside_string, nodes_at
from intarsia.infill.syntax.parse import Syntax, parse_edited

Prose: TypeAlias = Literal["comment", "documentation", "string"]
"""``documentation``: a docstring or documentation comment that has no word yet. With words it is
a comment."""

_DATA = frozenset({"json", "yaml", "toml", "markdown", "html", "css"})
_BEGUN_COMMENT = re.compile(r"(?:/\*\*[\s*]*|//[/!]\s*|---\s*)\Z")
_BEGUN_DOCSTRING = re.compile(r"\s*[rRuU]?(?:\"\"\"|''')\s*\Z")
_DOC_LINES = ("///", "//!", "---")
_BLOCK_COMMENTS = ("/*", "<!--", "--[[")
_QUOTES = ('"""', "'''", '"', "'", "`")
_WITH_CHARACTERS = frozenset(
    {"c", "cpp", "csharp", "go", "java", "kotlin", "rust", "scala", "swift", "zig"}
)
"""Languages where a single quote begins no string, and may have no partner."""

_NAME = re.compile(
    r"(?:[\w)\]]\[|`(?:[^`]*\s)?\w+:|\b(?:from|import|include|load|require|source|use)\b[^\"'`;]*)[\"'`][^\s\"'`]*\Z"
)
"""A key in brackets, in Go's tags or a module, in quotes that are open: such a string is a name."""
_KEY = re.compile(r"(?:(?:^|[{,\[])\s*|\bcase\s+)[\"'`][^\s\"'`]*\Z")
_AFTER_KEY = re.compile(r"[^\s\"'`]*[\"'`]\s*(?:=>|:)")
_AFTER_WORD = re.compile(r"([\"'])[^\s\"'`]+\1\s*,\s*[\"'][^\s\"'`]*\Z")
MAX_CHARS_BEFORE = 200
_VARIABLE = re.compile(r"\$\w*\Z")
_WITH_VARIABLES = frozenset({"dart", "kotlin", "php", "scala", "shellscript"})
"""Languages where a variable in a string needs no bracket."""


def prose_at(syntax: Syntax | None, offset: int) -> Prose | None:
    """Return which prose an insertion at ``offset`` would be part of, None in code."""
    if syntax is None or syntax.language.id in _DATA:
        return None
    start = _comment_around(syntax, offset)
    if start is None:
        start = _open_block_comment(syntax, offset)
    if start is not None:
        return "documentation" if _is_begun(syntax.text, start, offset) else "comment"
    with_string = _with_string_around(syntax, offset)
    line = syntax.text[line_start(syntax.text, offset) : offset]
    if with_string is None or _is_in_expression(line):
        return None
    if not _is_docstring(with_string, offset):
        return None if _is_name(syntax, line, offset) else "string"
    return "documentation" if _BEGUN_DOCSTRING.match(line) else "comment"


def _comment_around(syntax: Syntax, offset: int) -> int | None:
    """Return where the comment starts that text typed at ``offset`` would go on with."""
    text = syntax.text
    start = comment_at(syntax, offset - 1) if offset > 0 else None
    if start is None or comment_at(syntax, offset) == start:
        return start
    has_ended = text.startswith(_BLOCK_COMMENTS, start) or "\n" in text[start:offset]
    return None if has_ended else start


def _open_block_comment(syntax: Syntax, offset: int) -> int | None:
    """Return where the line begins a block comment without an end, which no grammar can read."""
    start = line_start(syntax.text, offset)
    line = syntax.text[start:offset]
    is_begun = line.lstrip().startswith("/*") and "*/" not in line
    return start + line.index("/*") if is_begun and "*/" in syntax.language.ends else None


def _is_begun(text: str, start: int, offset: int) -> bool:
    """Whether the comment from ``start`` on documents something, and has no word yet."""
    if not _BEGUN_COMMENT.match(text, start, offset):
        return False
    above = text[line_start(text, max(0, line_start(text, start) - 1)) : start].strip()
    return not above.startswith(_DOC_LINES)


def _with_string_around(syntax: Syntax, offset: int) -> Syntax | None:
    """Return the syntax in which ``offset`` is in a string; one that is open is closed there."""
    if is_inside_string(syntax, offset):
        return syntax
    line = syntax.text[line_start(syntax.text, offset) : offset]
    for quote in _QUOTES:
        is_open = line.count(quote) % 2 == 1
        if is_open and not (quote == "'" and syntax.language.id in _WITH_CHARACTERS):
            closed = parse_edited(syntax, offset, offset, quote)
            if closed is not None and is_inside_string(closed, offset):
                return closed
    return None


def _is_in_expression(line: str) -> bool:
    """Whether a line ends inside an expression in quotes, which the parser may not know yet."""
    *outer, last = open_marks(line) or [""]
    return last in PAIRS and any(mark not in PAIRS for mark in outer)


def _is_name(syntax: Syntax, line: str, offset: int) -> bool:
    """Whether the string at ``offset`` names a key, a module, a variable, or is among words."""
    if syntax.language.id in _WITH_VARIABLES and _VARIABLE.search(line):
        return True
    is_key = _KEY.search(line) and _AFTER_KEY.match(syntax.text, offset)
    is_listed = _AFTER_WORD.search(syntax.text, max(0, offset - MAX_CHARS_BEFORE), offset)
    return bool(is_key or is_listed or _NAME.search(line))


def _is_docstring(syntax: Syntax, offset: int) -> bool:
    """Whether the string around ``offset`` is a statement of its own in Python."""
    kinds = [node.type for node in nodes_at(syntax, offset - 1)]
    return (
        syntax.language.id == "python"
        and "string" in kinds[-2:]
        and (kinds[kinds.index("string") - 1] == "expression_statement")
    )
