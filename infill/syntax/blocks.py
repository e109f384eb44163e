"""Tells whether a block header has just been typed before a cursor, and where its body belongs.

The shape of the line decides; the parser only tells strings and comments from code. While a header
is being typed, the code is usually too broken for the parser to find the block.
"""

import re
from dataclasses import dataclass

from intarsia.infill.languages import Language
from intarsia.infill.syntax.brackets import CLOSERS, PAIRS, balance_of, opener_of
from intarsia.infill.syntax.embedded_code import code_at
from intarsia.infill.syntax.lines import (
    columns,
    indent_unit,
    last_non_blank,
    leading_blank,
    line_at,
    line_end,
    line_start,
    newline_of,
    next_non_blank_line,
)
from intarsia.infill.syntax.nodes import comment_at, is_code, nodes_at
from intarsia.infill.syntax.parse import Syntax

MAX_BLANK_LINES = 2
"""The most blank lines between a header that has just been typed and the cursor."""
MAX_HEADER_LINES = 40

_CONTINUES_HEADER = re.compile(
    r"\s*(?:throws|where|extends|implements|noexcept|const|override|requires|with|->|:)(?!\w)"
)
_BEFORE_BLOCK_BRACE = re.compile(
    r"(?:\)|=>|->|\b(?:else|try|do|finally|loop|unsafe|static|async|default))\s*$"
    r"|\b(?:class|interface|enum|struct|trait|impl|namespace|mod|fn|func|function|switch|match|for"
    r"|while|if|catch|record|module|union|extern)\b"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Header:
    indent: str
    is_flush: bool  # its body may begin at its own column
    closer: str | None  # the character that closes the block, if it is a single one
    body_columns: int | None  # the indentation of the body, if the cursor's line shows it

    @property
    def columns(self) -> int:
        return columns(self.indent)


def opened_block(
    text: str, offset: int, language: Language, syntax: Syntax | None
) -> Header | None:
    """Return the header that still needs a body at ``offset``, if there is one."""
    if language.block_style == "none":
        return None
    last = last_non_blank(text, offset)
    start = line_start(text, offset)
    if last < 0 or text.count("\n", last, start) > MAX_BLANK_LINES + 1:
        return None
    header = _header_ending_at(text, last, offset, language, syntax)
    if header is None or not _is_body_missing(text, offset, header, last < start):
        return None
    return header


def _header_ending_at(
    text: str, last: int, offset: int, language: Language, syntax: Syntax | None
) -> Header | None:
    is_above = last < line_start(text, offset)
    docstring = _docstring_start(text, last, language, syntax) if is_above else None
    if docstring is not None:
        last = last_non_blank(text, docstring)
    last = _before_comments(text, last, syntax)
    if last < 0 or not is_code(syntax, last):
        return None
    if text[last] in language.openers:
        if not is_above and not _may_open_inline(text, last, offset, language):
            return None
        return _header(text, last, offset, language, closer=PAIRS[text[last]])
    pattern = language.header if is_above else language.closed_header or language.header
    code = text[_statement_start(text, last) : last + 1]
    if pattern is None or not re.search(pattern, " ".join(code.splitlines())):
        return None
    return _header(text, last, offset, language, closer=None)


def _header(text: str, last: int, offset: int, language: Language, *, closer: str | None) -> Header:
    code = text[_statement_start(text, last) : last + 1]
    indent = leading_blank(code)
    flush = language.flush_header
    before_cursor = text[line_start(text, offset) : offset]
    is_indented = not before_cursor.strip() and columns(before_cursor) > columns(indent)
    return Header(
        indent=indent,
        is_flush=flush is not None and re.search(flush, code) is not None,
        closer=closer,
        body_columns=columns(before_cursor) if is_indented else None,
    )


def _before_comments(text: str, last: int, syntax: Syntax | None) -> int:
    """Step back over the comments between the header and the cursor."""
    for _ in range(MAX_HEADER_LINES):
        comment = comment_at(syntax, last)
        if comment is None:
            break
        last = last_non_blank(text, comment)
    return last


def _docstring_start(text: str, last: int, language: Language, syntax: Syntax | None) -> int | None:
    """Return where the docstring that ends at ``last`` starts: alone, it leaves the body empty."""
    if syntax is None or language.block_style != "indent" or text[last] not in "\"'":
        return None
    strings = [node for node in nodes_at(syntax, last) if node.type == "string"]
    if not strings:
        return None
    start = syntax.offset_at(strings[-1].start_byte)
    is_own_statement = not text[line_start(text, start) : start].strip()
    return start if is_own_statement else None


def _may_open_inline(text: str, last: int, offset: int, language: Language) -> bool:
    """Whether an opening bracket on the cursor's own line opens a block, and not a value."""
    rest = text[offset : line_end(text, offset)].strip()
    if text[last - 1 : last] in ("$", "#"):
        return False
    if rest == "" or language.are_pairs_blocks:
        return True
    return _BEFORE_BLOCK_BRACE.search(text[line_start(text, last) : last]) is not None


def _statement_start(text: str, last: int) -> int:
    """Return the start of the first line of the header that ends at ``last``."""
    start = line_start(text, last)
    for _ in range(MAX_HEADER_LINES):
        closed = balance_of(text[start : last + 1]).unmatched  # were opened on a line above
        opener = opener_of(text, start + closed[0]) if closed else None
        if opener is not None:
            start, last = line_start(text, opener), opener
        elif _CONTINUES_HEADER.match(text[start : last + 1]) and start > 0:
            last = last_non_blank(text, start)
            start = line_start(text, max(last, 0))
        else:
            break
    return start


def _is_body_missing(text: str, offset: int, header: Header, is_above: bool) -> bool:
    rest = text[offset : line_end(text, offset)].strip()
    if rest:
        is_closing = all(character in ")]};,:\"'` \t" for character in rest)
        return header.closer is not None and rest[0] == header.closer and is_closing
    line = line_at(text, offset)
    if is_above and line and columns(line) < header.columns:  # it is after the block
        return False
    following = next_non_blank_line(text, offset)
    if following is None or columns(following) < header.columns:
        return True
    is_closed = following.strip()[0] in CLOSERS
    return columns(following) == header.columns and (is_closed or not header.is_flush)


_DEFAULT_UNIT = " " * 4
_OPENERS = ("(", "[", "{")
_ENDS_BLOCK = re.compile(r"\s*(?:return|raise|break|continue|pass)\b")


def end_and_next_line(text: str, offset: int, language: Language) -> tuple[int, str]:
    """Return the end of the line at ``offset``, and what Enter inserts there."""
    end = line_end(text, offset)
    line = text[line_start(text, offset) : end]
    code = code_at(text, offset, offset, language)
    return end, newline_of(text) + _indentation_below(line, code.text, code.language)


def _indentation_below(line: str, text: str, language: Language) -> str:
    blank, unit = leading_blank(line), indent_unit(text) or _DEFAULT_UNIT
    if _opens_block(line, language):
        return blank + unit
    is_end = language.block_style == "indent" and _ENDS_BLOCK.match(line) is not None
    return blank.removesuffix(unit) if is_end else blank


def _opens_block(line: str, language: Language) -> bool:
    code = line.rstrip()
    if not code:
        return False
    is_header = language.header is not None and re.search(language.header, code) is not None
    return is_header or code.endswith(_OPENERS) or code[-1] in language.openers
