"""The hole to fill at a cursor, a mark or a range: where it is, and what text belongs there.

A mark's old text is removed before the model sees it. What stays of it, such as a comment, and
the line ends that give the fill lines of its own are put around the fill.

    fn f() { todo!() }   →   fn f() {⏎    ◌⏎}        ◌ is the fill
    ‸return x            →   ◌⏎return x              ‸ is the cursor

Token healing: the model's fill begins a little before the hole, so that no token is cut. Byte-pair
tokenizers join one leading blank or punctuation mark to the word after it (" return", ".append").
So a half-typed word is given to the fill with the one character before it.

Below a block header that has just been typed, the hole is the block's body. The shape of the line
decides; the parser only tells strings and comments from code. While a header is being typed, the
code is usually too broken for the parser to find the block.
"""

import re
import string
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.embedded_code import Code, code_at
from intarsia.infill.syntax.text import (
    BYTE_ORDER_MARK,
    CLOSERS,
    PAIRS,
    balance_of,
    columns,
    indent_unit,
    last_non_blank,
    leading_blank,
    line_at,
    line_bounds,
    line_end,
    line_start,
    newline_of,
    next_non_blank_line,
    opener_of,
    splits_line_end,
)
from intarsia.infill.syntax.tree import MAX_LINE_CHARS, Syntax, innermost_text, nodes_at

MAX_BLANK_LINES = 2
"""The most blank lines between a header that has just been typed and the cursor."""
MAX_HEADER_LINES = 40

_CONTINUES_HEADER = re.compile(
    r"\s*(?:(?:throws|where|extends|implements|noexcept|requires|->|:)(?!\w)|with\s+\w"
    r"|(?:(?:const|override|final)\b\s*)+(?:[&{]|->|noexcept|$))"
)
"""Kotlin's ``override fun``, JavaScript's ``const f`` and a call ``with(x)`` begin a statement."""
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
    blank = text[last + 1 : offset]
    if last < 0 or blank.count("\n") > MAX_BLANK_LINES + 1:
        return None
    is_above = "\n" in blank or "\r" in blank
    header = _header_ending_at(text, last, offset, language, syntax, is_above=is_above)
    if header is None or not _is_body_missing(text, offset, header, is_above):
        return None
    return header


def _header_ending_at(
    text: str,
    last: int,
    offset: int,
    language: Language,
    syntax: Syntax | None,
    *,
    is_above: bool,
) -> Header | None:
    docstring = _docstring_start(text, last, language, syntax) if is_above else None
    if docstring is not None:
        last = last_non_blank(text, docstring)
    last = _before_comments(text, last, syntax)
    if last < 0:
        return None
    if text[last] in language.openers:
        if not is_above and not _may_open_inline(text, last, offset, language):
            return None
        return _header(text, last, offset, language, closer=PAIRS[text[last]])
    pattern = language.header if is_above else language.closed_header or language.header
    code = text[_statement_start(text, last, language) : last + 1].removeprefix(BYTE_ORDER_MARK)
    if pattern is None or not re.search(pattern, " ".join(code.splitlines())):
        return None
    return _header(text, last, offset, language, closer=None)


def _header(text: str, last: int, offset: int, language: Language, *, closer: str | None) -> Header:
    code = text[_statement_start(text, last, language) : last + 1]
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
    """Step back over the comments between the header and the cursor; -1 where no code is above."""
    for _ in range(MAX_HEADER_LINES):
        if syntax is None or last < 0 or (around := innermost_text(syntax, last)) is None:
            return last
        if around.type not in syntax.language.comments:
            break
        last = last_non_blank(text, syntax.offset_at(around.start_byte))
    return -1


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


def _statement_start(text: str, last: int, language: Language) -> int:
    """Return the start of the first line of the header that ends at ``last``."""
    start, may_continue = line_start(text, last), language.block_style != "indent"
    for _ in range(MAX_HEADER_LINES):
        closed = balance_of(text[start : last + 1]).unmatched  # were opened on a line above
        opener = opener_of(text, start + closed[0]) if closed else None
        if opener is not None:
            start, last = line_start(text, opener), opener
        elif may_continue and start > 0 and _CONTINUES_HEADER.match(text[start : last + 1]):
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


MAX_GIVEN_CHARS = 64


def given_start(text: str, start: int) -> int:
    """Return where the text that the fill must begin with starts, on the line of ``start``."""
    offset, earliest = start, max(0, start - MAX_GIVEN_CHARS)
    while offset > earliest and is_word_character(text[offset - 1]):
        offset -= 1
    if offset > earliest and _joins_next_word(text[offset - 1]):
        offset -= 1
    return offset


def is_word_character(character: str) -> bool:
    """Whether this is a character that a word may go on with (combining marks are); "" is none."""
    return character != "" and ("a" + character).isidentifier()


def _joins_next_word(character: str) -> bool:
    is_mark = character in string.punctuation or unicodedata.category(character).startswith("P")
    return is_mark or character in " \t"


HoleKind = Literal[
    "line",  # the rest of one line
    "block",  # the body that a header has just opened
    "span",  # a range that the user selected; if it is empty, text of any length
    "statements",  # any number of lines at the hole's own indentation
]

MAX_LINES = 32
"""The most lines of a fill, where the text does not tell how many it should have."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hole:
    """A range of a text, ``text[start:end]``, that a fill replaces.

    ``text[given_start:start]`` is typed already and stays: a half-typed word with the blank before
    it, say. The model is given it as the beginning of its own fill, so that no token is cut.
    """

    start: int
    end: int
    kind: HoleKind
    given_start: int
    max_lines: int
    line_start: int  # of the line that it begins on
    line_end: int  # of the line that it ends on, before the line end
    code: Code = field(repr=False, compare=False)  # that it is in; offsets are those of the text
    header: Header | None = None  # of a block, the header that opens it
    is_inserted: bool = False  # a new line before existing code, which nothing open may take in

    def __post_init__(self) -> None:
        if not 0 <= self.given_start <= self.start <= self.end:
            raise ValueError(f"hole out of order: {self.given_start=} {self.start=} {self.end=}")


def find_hole(text: str, offset: int, language: Language) -> Hole | NoSuggestion:
    """Return the hole at a cursor. It is empty: text right of the cursor stays.

    Raises ValueError if the offset is outside the text.
    """
    check_range(text, offset, offset)
    start = _snap(text, offset)
    first, last = line_bounds(text, start)
    if refusal := _refusal_of_line(text, last - first):
        return refusal
    code = code_at(text, start, start, language)
    header = opened_block(code.text, start, code.language, code.syntax)
    return Hole(
        start=start,
        end=start,
        kind="line" if header is None else "block",
        given_start=given_start(text, start),
        max_lines=1 if header is None else MAX_LINES,
        line_start=first,
        line_end=last,
        code=code,
        header=header,
    )


def refusal_of_hole(text: str, offset: int) -> NoSuggestion | None:
    """Return why there is no hole at a cursor, None where there is one. Parses nothing."""
    first, last = line_bounds(text, offset)
    return _refusal_of_line(text, last - first)


def _refusal_of_line(text: str, length: int) -> NoSuggestion | None:
    if "\0" in text:
        return NoSuggestion(reason="the text contains NUL characters, so it looks binary")
    if length <= MAX_LINE_CHARS:
        return None
    most = f"at most {MAX_LINE_CHARS:,} can be read"
    return NoSuggestion(reason=f"the line is too long: {length:,} characters, and {most}")


def hole_for_range(text: str, start: int, end: int, language: Language) -> Hole:
    """Return the hole of a range that the user selected; an empty one may become several lines.

    Raises ValueError if the range is outside the text.
    """
    check_range(text, start, end)
    first = _snap(text, start)
    last = max(first, end + 1 if splits_line_end(text, end) and first < end else _snap(text, end))
    removed = text[first:last]
    is_line = first < last and "\n" not in removed and "\r" not in removed
    return Hole(
        start=first,
        end=last,
        kind="line" if is_line else "span",
        given_start=given_start(text, first),
        max_lines=1 if is_line else MAX_LINES + len(removed.splitlines()),
        line_start=line_start(text, first),
        line_end=line_end(text, last),
        code=code_at(text, first, last, language),
    )


def check_range(text: str, start: int, end: int) -> None:
    """Raise ValueError if a range is outside the text."""
    if start > end:
        raise ValueError(f"the range ends before it starts: {start} > {end}")
    if start < 0 or end > len(text):
        offset = start if start < 0 else end
        raise ValueError(f"position {offset} is outside the text, which has {len(text)} characters")


def check_disjoint(holes: Sequence[Hole]) -> None:
    """Raise ValueError if two holes overlap or start at the same offset."""
    ordered = sorted(holes, key=lambda hole: (hole.start, hole.end))
    for left, right in pairwise(ordered):
        if right.start < left.end or right.start == left.start:
            raise ValueError(
                f"holes overlap: {left.start}-{left.end} and {right.start}-{right.end}; "
                "give ranges that do not"
            )


def _snap(text: str, offset: int) -> int:
    """Step out of a CRLF, and past a byte order mark: nothing may be inserted before it."""
    if offset and text.startswith("\r\n", offset - 1):
        return offset - 1
    return 1 if offset == 0 and text.startswith(BYTE_ORDER_MARK) else offset


_ENDS_ARGUMENTS = ")],; \t"
"""Marks that a line may end with: no line is begun before them alone."""

_GOES_ON = re.compile(
    r" (?:[-+*/%=<>!&|^?:~@]+|and|as|in|instanceof|is|not in|or) | ?(?:[=!]==?|&&|\|\|)"
)
"""An operator between two blanks, or one that begins no line: the line has begun already."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkedHole:
    """``text[start:end]`` becomes ``before`` + fill + ``after``."""

    start: int
    end: int
    before: str = ""
    after: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenHole:
    """A hole in the text that the model is shown, and where its fill goes in the real text.

    ``hole`` is in terms of ``shown``. In the real text, ``text[start:end]`` becomes ``before`` +
    fill + ``after``.
    """

    shown: str
    hole: Hole
    start: int
    end: int
    before: str = ""
    after: str = ""


def open_at_cursor(
    text: str, cursor: int, language: Language, *, is_word_whole: bool = False
) -> OpenHole | NoSuggestion:
    """Return the hole at a cursor. Before code that begins there, it is a new line of its own.

    ``is_word_whole``: the word before the cursor was chosen, and no letter may follow. Raises
    ValueError if the cursor is outside the text.
    """
    hole = find_hole(text, cursor, language)
    if isinstance(hole, NoSuggestion):
        return hole
    if is_word_whole and is_word_character(text[hole.start - 1 : hole.start]):
        hole = replace(hole, given_start=hole.start)
    start, after = hole.start, ""
    blank = text[hole.line_start : start].removeprefix(BYTE_ORDER_MARK)
    line_rest = text[start : hole.line_end]
    rest, goes_on = line_rest.strip(), _GOES_ON.match(line_rest)
    if rest.strip(_ENDS_ARGUMENTS) and not blank.strip() and not goes_on:
        is_closed = hole.header is not None and hole.header.closer == rest[0]
        after = newline_of(text) + (hole.header.indent if is_closed and hole.header else blank)
        text = text[:start] + after + text[start:]
        reopened = find_hole(text, start, language)
        assert isinstance(reopened, Hole), "a shorter line is not refused"
        hole = replace(reopened, is_inserted=True)
    return OpenHole(shown=text, hole=hole, start=start, end=start, after=after)


def open_marked(text: str, marked: MarkedHole, language: Language) -> OpenHole | NoSuggestion:
    """Return the hole of a place: a body, whole statements, or the rest of a line."""
    shown = text[: marked.start] + marked.before + marked.after + text[marked.end :]
    offset = marked.start + len(marked.before)
    hole = find_hole(shown, offset, language)
    if isinstance(hole, NoSuggestion):
        return hole
    if hole.kind == "line" and not shown[hole.line_start : hole.line_end].strip(" \t\ufeff"):
        hole = replace(hole, kind="statements", max_lines=MAX_LINES)
    return OpenHole(
        shown=shown,
        hole=hole,
        start=marked.start,
        end=marked.end,
        before=marked.before,
        after=marked.after,
    )
