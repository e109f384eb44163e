"""By what a hole ends: texts that stop it, brackets, the least indentation of its lines.

Comes in: a text and its hole; goes out: what the canvas tells the engine. Knows no tokens.
"""

import re

from intarsia.infill.holes.hole import Hole
from intarsia.infill.languages import Language
from intarsia.infill.syntax.blocks import Header
from intarsia.infill.syntax.brackets import balance_of
from intarsia.infill.syntax.lines import columns, line_end, line_start, next_non_blank_line
from intarsia.infill.syntax.nodes import is_code, num_errors
from intarsia.infill.syntax.parse import Syntax

MIN_SPECIFIC_CHARS = 3

MAX_CHARS_BALANCED = 100_000
"""In a longer text brackets are not counted."""

MAX_CHARS_LOOKED_AT = 4_000
"""Of a line after the hole; a longer one says no more."""

# The second run of marks needs a word before it. Two runs side by side take quadratic time.
_CLOSING_ONLY = re.compile(r"[\s)\]};,:'\"`]*(?:(?:end|fi|done|esac)[\s)\]};,:'\"`]*)?")
_ENDS_STATEMENT = tuple(":;{,")


def stop_texts(text: str, hole: Hole) -> tuple[str, ...]:
    """Return the texts that end the hole where they first appear in the fill."""
    if hole.kind == "line":
        return ("\n",)
    stops = [_closing_line(hole.header), _first_line_after(text, hole)]
    return tuple(stop for stop in stops if stop)


def max_open(text: str, hole: Hole, language: Language, syntax: Syntax | None) -> int | None:
    """Return how many of the brackets that a line opens the text after it closes: with more of them
    open, the line goes on over others. None: it ends at its end, come what may.
    """
    is_at_line_end = not text[hole.end : line_end(text, hole.end)].strip()
    if hole.kind != "line" or hole.start < hole.end or not is_at_line_end:
        return None
    if language.block_style == "none" or not _stands_in_code(text, hole.start, syntax):
        return None
    if syntax is None or len(text) > MAX_CHARS_BALANCED:
        return None
    return len(balance_of(text).unmatched) if num_errors(syntax) else 0


def min_indent(text: str, hole: Hole, language: Language, syntax: Syntax | None) -> int:
    """Return the columns that a later line of the hole must be indented by; 0 for any."""
    if hole.kind == "block":
        header = hole.header
        return 0 if header is None or header.is_flush else _body_columns(header, language)
    if hole.kind == "statements":
        return columns(text[line_start(text, hole.start) : hole.start])
    if hole.kind == "span" and language.block_style == "indent":
        return _least_columns(text, hole)
    if hole.kind == "span" and _is_whole(text, hole, syntax):
        return _scope_columns(text, hole)
    return 0


def is_specific(line: str) -> bool:
    """Whether a line is told from others: three signs or more, and not closing marks alone."""
    beginning = line[:MAX_CHARS_LOOKED_AT]
    num_signs = sum(not character.isspace() for character in beginning)
    return num_signs >= MIN_SPECIFIC_CHARS and not _CLOSING_ONLY.fullmatch(beginning)


def stands_at_indentation(text: str, offset: int) -> bool:
    """Whether only blanks stand before the offset on its line."""
    return not text[line_start(text, offset) : offset].strip(" \t\ufeff")


def _stands_in_code(text: str, offset: int, syntax: Syntax | None) -> bool:
    """Whether what is put in goes on with code, no string or comment."""
    start = line_start(text, offset)
    before = text[start:offset].rstrip()
    return is_code(syntax, start + len(before) - 1 if before else max(0, offset - 1))


def _body_columns(header: Header, language: Language) -> int:
    """Any line further in than the header is body; an indented cursor says how far in."""
    is_told = language.block_style == "indent" and header.body_columns is not None
    return header.body_columns if is_told and header.body_columns else header.columns + 1


def _closing_line(header: Header | None) -> str | None:
    """Where indentation cannot end the body, the closing bracket at the header's column does."""
    if header is None or not header.is_flush or header.closer is None:
        return None
    return "\n" + header.indent + header.closer


def _first_line_after(text: str, hole: Hole) -> str | None:
    """Return the first line after the hole as the fill would write it, where it is specific.

    The line's own end goes with it where more could follow: "return x" is not "return xyz".
    """
    rest = text[hole.end : line_end(text, hole.end)]
    if rest.strip() and stands_at_indentation(text, hole.start):
        line: str | None = text[line_start(text, hole.start) : hole.start] + rest
    else:
        line = next_non_blank_line(text, hole.end)
    if line is None or not is_specific(line):
        return None
    line = line.rstrip().removeprefix("\ufeff")
    if len(line) > MAX_CHARS_LOOKED_AT:
        return "\n" + line[:MAX_CHARS_LOOKED_AT]
    return "\n" + line + ("" if line.endswith(_ENDS_STATEMENT) else "\n")


def _least_columns(text: str, hole: Hole) -> int:
    """Where indentation makes the scopes, what replaces whole lines is no further out than they."""
    lines = text[line_start(text, hole.start) : hole.end].splitlines()
    return min((columns(line) for line in lines if line.strip()), default=0)


def _is_whole(text: str, hole: Hole, syntax: Syntax | None) -> bool:
    """Whether the hole cuts no scope in two, as far as parser and brackets tell."""
    is_read = syntax is not None and syntax.language.block_style == "closed"
    removed = balance_of(text[hole.start : hole.end])
    return is_read and removed == balance_of("") and syntax is not None and not num_errors(syntax)


def _scope_columns(text: str, hole: Hole) -> int:
    """Before a line that only closes something, the hole is what stands further in than that line.

    Before any other line the stop text ends the hole, and nothing says how far in it may go.
    """
    closing = next_non_blank_line(text, hole.end)
    is_at_line_end = not text[hole.end : line_end(text, hole.end)].strip()
    if closing is None or not is_at_line_end:
        return 0
    beginning = closing[:MAX_CHARS_LOOKED_AT]
    return columns(beginning) + 1 if _CLOSING_ONLY.fullmatch(beginning) else 0
