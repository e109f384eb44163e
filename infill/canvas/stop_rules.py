"""The rules that end a hole: stop texts, open brackets, and the least indentation of its lines.

They become fields of the canvas, and the engine applies them to the text that it writes.
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
"""Brackets of a longer text are not counted."""

MAX_CHARS_LOOKED_AT = 4_000
"""How much of a line after the hole is read."""

MAX_STOP_CHARS = 1_000
"""A longer line ends the hole by its beginning: the engine takes 4,000 characters of stop texts."""

# The second run of marks needs a word before it. Two runs side by side take quadratic time.
_CLOSING_ONLY = re.compile(r"[\s)\]};,:'\"`]*(?:(?:end|fi|done|esac)[\s)\]};,:'\"`]*)?")
_ENDS_STATEMENT = tuple(":;{,")


def stop_texts(text: str, hole: Hole, closing_line: str | None = None) -> tuple[str, ...]:
    """Return the stop texts: the fill ends where the first one appears.

    ``closing_line`` ends the code that the hole is in, such as a fence of Markdown.
    """
    if hole.kind == "line":
        return ("\n",)
    stops = [_closing_line(hole.header), _first_line_after(text, hole)]
    stops.append(closing_line and f"\n{closing_line}")
    return tuple(stop[:MAX_STOP_CHARS] for stop in stops if stop)


def max_open(text: str, hole: Hole, language: Language, syntax: Syntax | None) -> int | None:
    """Return how many brackets that a line opens are closed by the text after it.

    A line that opens more continues on the next ones. None: it ends at its line end in any case.
    """
    is_at_line_end = not text[hole.end : line_end(text, hole.end)].strip()
    if hole.kind != "line" or hole.start < hole.end or not is_at_line_end:
        return None
    if len(text) > MAX_CHARS_BALANCED or not _is_in_code(text, hole.start, syntax):
        return None
    if (language.grammar is not None) == (syntax is None or language.block_style == "none"):
        return None
    is_whole = syntax is not None and not num_errors(syntax)
    return 0 if is_whole else sum(at >= hole.end for at in balance_of(text).unmatched)


def min_indent(text: str, hole: Hole, language: Language, syntax: Syntax | None) -> int:
    """Return by how many columns later lines of the hole must be indented; 0 for any number."""
    if hole.kind == "block":
        header = hole.header
        return 0 if header is None or header.is_flush else _body_columns(header, language)
    if hole.kind == "statements":
        return columns(text[line_start(text, hole.start) : hole.start])
    if hole.kind == "span" and language.block_style == "indent":
        lines = text[line_start(text, hole.start) : hole.end].splitlines()
        return min((columns(line) for line in lines if line.strip()), default=0)  # in their scope
    if hole.kind == "span" and _is_whole(text, hole, syntax):
        return _scope_columns(text, hole)
    return 0


def is_specific(line: str) -> bool:
    """Whether a line is unlike others: at least three characters, and not only closing marks."""
    beginning = line[:MAX_CHARS_LOOKED_AT]
    num_visible = sum(not character.isspace() for character in beginning)
    return num_visible >= MIN_SPECIFIC_CHARS and not _CLOSING_ONLY.fullmatch(beginning)


def _is_in_code(text: str, offset: int, syntax: Syntax | None) -> bool:
    """Whether an insertion continues code, and not a string or a comment."""
    start = line_start(text, offset)
    before = text[start:offset].rstrip()
    return is_code(syntax, start + len(before) - 1 if before else max(0, offset - 1))


def _body_columns(header: Header, language: Language) -> int:
    """Return the columns of an indented cursor, else one more than the header has."""
    is_known = language.block_style == "indent" and header.body_columns is not None
    return header.body_columns if is_known and header.body_columns else header.columns + 1


def _closing_line(header: Header | None) -> str | None:
    """Return the line that closes a body which indentation cannot end: a bracket under its header.

    switch (x) {
    case 1:        ← at the header's own column
    }              ← so this line ends the body
    """
    if header is None or not header.is_flush or header.closer is None:
        return None
    return "\n" + header.indent + header.closer


def _first_line_after(text: str, hole: Hole) -> str | None:
    """Return the first line after the hole as the fill would write it, if it is specific.

    It includes the line end where more could follow: "return x" is not "return xyz".
    """
    before = text[line_start(text, hole.start) : hole.start]
    rest = text[hole.end : line_end(text, hole.end)]
    if rest.strip() and not before.strip(" \t\ufeff"):
        line: str | None = before + rest
    else:
        line = next_non_blank_line(text, hole.end)
    if line is None or not is_specific(line):
        return None
    line = line.rstrip().removeprefix("\ufeff")
    return "\n" + line + ("" if line.endswith(_ENDS_STATEMENT) else "\n")


def _is_whole(text: str, hole: Hole, syntax: Syntax | None) -> bool:
    """Whether the hole splits no scope, as far as the parser and the brackets tell."""
    is_parsed = syntax is not None and syntax.language.block_style == "closed"
    removed = balance_of(text[hole.start : hole.end])
    return is_parsed and removed == balance_of("") and syntax is not None and not num_errors(syntax)


def _scope_columns(text: str, hole: Hole) -> int:
    """Return the least indentation of a hole before a line of closing marks: further in than that.

    Before any other line the stop text ends the hole, and any indentation is allowed (0).
    """
    closing = next_non_blank_line(text, hole.end)
    is_at_line_end = not text[hole.end : line_end(text, hole.end)].strip()
    if closing is None or not is_at_line_end:
        return 0
    beginning = closing[:MAX_CHARS_LOOKED_AT]
    return columns(beginning) + 1 if _CLOSING_ONLY.fullmatch(beginning) else 0
