"""A canvas: the part of a file around one hole that the engine is shown, and the hole's limits.

A canvas has LF line ends, whatever the file has, and no byte order mark. Post-processing puts the
file's line ends back. A model continues what it reads: shown placeholders and TODOs, it writes
placeholders and TODOs. So other holes are hidden; the file itself is not changed. The engine
applies the rules that end a hole to the text that it writes.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TypedDict

from intarsia.infill.canvas.imports_above import imports_above
from intarsia.infill.canvas.window import (
    CHARS_PER_TOKEN,
    Window,
    budget_chars,
    prefix_start,
    suffix_end,
    window_of,
)
from intarsia.infill.holes.find_holes import TODO
from intarsia.infill.holes.hole import Hole, HoleKind
from intarsia.infill.languages import Language
from intarsia.infill.syntax.blocks import Header
from intarsia.infill.syntax.brackets import balance_of
from intarsia.infill.syntax.embedded_code import code_at
from intarsia.infill.syntax.lines import (
    BYTE_ORDER_MARK,
    columns,
    line_end,
    line_start,
    next_non_blank_line,
    with_plain_newlines,
)
from intarsia.infill.syntax.nodes import is_code, num_errors
from intarsia.infill.syntax.parse import Syntax, parse

LINE_TOKENS = 48
STATEMENT_TOKENS = 96
"""For a line that may continue on the next ones until its brackets are closed."""

IMPORT_TOKENS, IMPORT_SHARE = 150, 0.3
"""The most of a prefix, and of its budget, that imports from above it may take."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """The most tokens before, after and in the hole. Those around it are estimated."""

    prefix_tokens: int = 1536
    suffix_tokens: int = 384
    hole_tokens: int = 128


@dataclass(frozen=True, kw_only=True, slots=True)
class Canvas:
    """Prefix + given + (hole) + suffix, trimmed to a budget, and the rules that end the hole.

    The fields from ``prefix`` to ``max_tokens`` are those of the engine's ``Fill`` message.
    """

    prefix: str
    given: str  # typed already; the fill begins with it
    suffix: str
    stop: tuple[str, ...]  # each of these texts ends the hole
    max_open: int | None  # a line ends once no more brackets than this are open
    min_indent: int  # a later line that is indented by fewer columns ends the hole
    max_tokens: int
    kind: HoleKind
    language: str
    window: Window  # what it shows of the text


def build_canvas(
    text: str, hole: Hole, language: Language, budget: Budget, earlier: Sequence[Window] = ()
) -> Canvas:
    """Return the canvas of one hole.

    ``earlier`` are windows of the same text or an older version of it, the newest first: the
    canvas keeps their edges where it can. The rules that end the hole are those of the code that it
    is in; what is shown around it is the document, also around a fence of Markdown.
    """
    code = code_at(text, hole.start, hole.end, language)
    code_syntax = parse(code.text, code.language)
    num_open = max_open(code.text, hole, code.language, code_syntax)
    is_statement = num_open is not None and code_syntax is not None
    line_tokens = STATEMENT_TOKENS if is_statement else LINE_TOKENS
    return Canvas(
        **shown_around(text, hole, language, budget, earlier),
        given=_shown(text[hole.given_start : hole.start]),
        stop=stop_texts(code.text, hole, code.closing_line),
        max_open=num_open,
        min_indent=min_indent(code.text, hole, code.language, code_syntax),
        max_tokens=budget.hole_tokens if hole.kind != "line" else line_tokens,
        kind=hole.kind,
        language=code.language.id,
    )


class ShownAround(TypedDict):
    """The fields of a canvas that depend on the budget."""

    prefix: str
    suffix: str
    window: Window


def shown_around(
    text: str, hole: Hole, language: Language, budget: Budget, earlier: Sequence[Window] = ()
) -> ShownAround:
    """Return what of the text is shown before and after a hole."""
    syntax = parse(text, language)

    def start(num_tokens: int) -> int:
        return prefix_start(text, hole.given_start, num_tokens, syntax, earlier)

    first, imports = start(budget.prefix_tokens), ""
    if first > 0 and syntax is not None:
        room = min(IMPORT_TOKENS, int(budget.prefix_tokens * IMPORT_SHARE))
        taken = imports_above(text, start(budget.prefix_tokens - room), budget_chars(room), syntax)
        first = start(budget.prefix_tokens - ceil(len(taken) / CHARS_PER_TOKEN))
        imports = imports_above(text, first, budget_chars(room), syntax)
    last = suffix_end(text, hole.end, budget.suffix_tokens, syntax, earlier)
    return {
        "prefix": imports + _shown(text[first : hole.given_start]),
        "suffix": _shown(text[hole.end : last]),
        "window": window_of(text, first, hole.given_start, text[hole.end : last]),
    }


def _shown(text: str) -> str:
    return with_plain_newlines(text).removeprefix(BYTE_ORDER_MARK)


_COMMENT_ABOVE = re.compile(r"(?:[ \t]*(?:#|//|/\*|\*).*\n)+[ \t]*\Z")
_NOTE_LINE = re.compile(r"\s*[@#/*\[]")
_HEADER_LINE = re.compile(r"\s*[^)\]}\s]")
_TODO = re.compile(rf"{TODO.pattern}(?:\([^)\n]*\))?:?[ \t]*")


def hide_other_holes(text: str, hole: Hole, others: Sequence[tuple[int, int]]) -> tuple[str, Hole]:
    """Return the text without the other holes, and the hole as it has moved in it.

    Holes before it are cut out. The text ends before the scope that holds the first hole after it.
    """
    next_hole = min((start for start, _ in others if start >= hole.end), default=None)
    until = len(text) if next_hole is None else _start_of_scope(text, hole.end, next_hole)
    kept, kept_until = [], 0
    for start, end in sorted(others):
        if kept_until <= start and end <= hole.given_start:
            kept.append(text[kept_until:start])
            kept_until = end
    before = "".join(kept) + text[kept_until : hole.given_start]
    shift = len(before) - hole.given_start
    moved = replace(
        hole, start=hole.start + shift, end=hole.end + shift, given_start=hole.given_start + shift
    )
    return before + text[hole.given_start : until], moved


def _start_of_scope(text: str, earliest: int, offset: int) -> int:
    """Return where the outermost scope around ``offset`` begins, at ``earliest`` or after it.

    Indentation tells the scope. It includes its header, and comments and decorators right above:
    a header without its body would be another placeholder.
    """
    start = line_start(text, offset)
    scope, scope_columns = start, columns(text[start : line_end(text, start)])
    belongs: re.Pattern[str] | None = _NOTE_LINE  # matches lines that belong to the line below
    while start > earliest:
        start = line_start(text, start - 1)
        line = text[start : line_end(text, start)]
        if start < earliest:
            break
        if line.strip() and columns(line) < scope_columns:
            scope, scope_columns, belongs = start, columns(line), _HEADER_LINE
        elif belongs and columns(line) == scope_columns and belongs.match(line):
            scope = start
        else:
            belongs = None
    return max(scope, earliest)


def hide_todo(canvas: Canvas) -> Canvas:
    """Return the canvas without the word TODO in a comment right above the hole."""
    comment = _COMMENT_ABOVE.search(canvas.prefix)
    if comment is None:
        return canvas
    without_todo = _TODO.sub("", comment.group())
    return replace(canvas, prefix=canvas.prefix[: comment.start()] + without_todo)


MIN_SPECIFIC_CHARS = 3

MAX_CHARS_BALANCED = 100_000
"""Brackets of a longer text are not counted."""

MAX_CHARS_LOOKED_AT = 4_000
"""How much of a line after the hole is read."""

MAX_STOP_CHARS = 1_000
"""A longer line ends the hole by its beginning: the engine takes 4,000 characters of stop texts."""

# The second run of marks needs a word before it. Two runs side by side take quadratic time.
_CLOSING_ONLY = re.compile(r"[\s)\]};,:'\"`]*(?:(?:end|fi|done|esac)[\s)\]};,:'\"`]*)?")
_ENDS_BLOCK = re.compile(r"\s*(?:elif|else|except|finally)\b")
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
    if bool(language.grammar) == (syntax is None or language.block_style == "none"):
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
        return _span_columns(text, hole)
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


def _span_columns(text: str, hole: Hole) -> int:
    """Return the least indentation of the lines that a hole replaces, its own line's included.

    Where it replaces none, the next line tells how many blocks may be left: all but the outermost.
    """
    lines = text[line_start(text, hole.start) : hole.end].splitlines()
    least = min((columns(line) for line in lines if line.strip()), default=0)
    if text[hole.start : hole.end].strip():
        return least
    following = (next_non_blank_line(text, hole.start) or "")[:MAX_CHARS_LOOKED_AT]
    ends_block = _CLOSING_ONLY.fullmatch(following) or _ENDS_BLOCK.match(following)
    return min(least, max(1, columns(following) + bool(ends_block)))


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
