"""A canvas: the part of a file around one hole that the engine is shown, and the hole's limits.

A canvas has LF line ends, whatever the file has, and no byte order mark. Post-processing puts the
file's line ends back. A model continues what it reads: shown placeholders and TODOs, it writes
placeholders and TODOs. So other holes are hidden; the file itself is not changed. The engine
applies the rules that end a hole to the text that it writes.

Prefix and suffix are cut to a budget: at scope edges, else at line edges or word edges. Budgets are
in tokens, which are estimated from characters: only the engine has a tokenizer. The edges move in
steps: those of an earlier window are kept while they are not too near or too far, because a moved
edge has the engine read everything after it again. A prefix that begins below the file's imports
begins with some of them: they name what other files offer to all of the file.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from textwrap import dedent
from typing import TypedDict

from intarsia.infill.holes.find_holes import TODO
from intarsia.infill.holes.hole import Header, Hole, HoleKind, is_word_character
from intarsia.infill.languages import Language
from intarsia.infill.syntax.embedded_code import Code
from intarsia.infill.syntax.text import (
    BYTE_ORDER_MARK,
    balance_of,
    columns,
    leading_blank,
    line_end,
    line_start,
    next_line_start,
    next_non_blank_line,
    splits_line_end,
    with_plain_newlines,
)
from intarsia.infill.syntax.tree import Syntax, edges_of_scopes, is_code, num_errors

CHARS_PER_TOKEN = 3.2
SCOPE_SHARE = 0.25
"""The share of a budget that is given up to cut at a scope's edge and not just at a line's."""

FEWEST_KEPT = 0.5
MOST_KEPT = 1.5
"""An earlier edge is kept while the text up to it has this share of the budget."""

FEW_LINES_CHARS = 400
"""About how far a hole may move before the text after it is read again."""

_HEAD_CHARS = 200  # by which the start of a window is recognized
_CHARS_BEFORE_HEAD = 2  # a line end

_ZERO_WIDTH_JOINER = "\u200d"
_MARKS = ("Mn", "Mc", "Me", "Sk")


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """The part of a text that was shown around a hole, as it is found again in a later text."""

    start: int
    hole: int  # where the prefix ends
    head: str  # the text around the start
    suffix: str
    num_chars: int  # of the whole text


def window_of(text: str, start: int, hole: int, suffix: str) -> Window:
    """Return the window of ``text`` from ``start`` to a hole, and the ``suffix`` after the hole."""
    head = text[max(0, start - _CHARS_BEFORE_HEAD) : start + _HEAD_CHARS]
    return Window(start=start, hole=hole, head=head, suffix=suffix, num_chars=len(text))


def budget_chars(num_tokens: int) -> int:
    """Return about how many characters ``num_tokens`` of code have."""
    return int(num_tokens * CHARS_PER_TOKEN)


def prefix_start(
    text: str, end: int, num_tokens: int, syntax: Syntax | None, earlier: Sequence[Window] = ()
) -> int:
    """Return where a prefix that ends at ``end`` must begin to stay within the budget.

    The start of one of the ``earlier`` windows is kept, the newest first, where the prefix is then
    between half and one and a half of the budget.
    """
    kept = kept_start(text, end, num_tokens, earlier)
    if kept is not None:
        return kept
    max_chars = budget_chars(num_tokens)
    earliest = end - max_chars
    if earliest <= 0:
        return 0
    latest = earliest + int(max_chars * SCOPE_SHARE)
    for edge in edges_of_scopes(syntax, earliest, latest):
        start = line_start(text, edge)
        if start >= earliest:
            return start
    start = earliest if _is_line_edge(text, earliest) else next_line_start(text, earliest)
    return start if start <= line_start(text, end) else _word_edge_after(text, earliest, end)


def kept_start(text: str, end: int, num_tokens: int, earlier: Sequence[Window]) -> int | None:
    """Return the start that a prefix keeps of the ``earlier`` windows, None if it keeps none."""
    max_chars = budget_chars(num_tokens)
    for start in _starts_again(text, end, earlier):
        is_long_enough = start == 0 or end - start >= FEWEST_KEPT * max_chars
        if is_long_enough and end - start <= MOST_KEPT * max_chars:
            return start
    return None


def _unread_chars(text: str, shown: Window, earlier: Sequence[Window]) -> tuple[int, int] | None:
    """Return about how many characters a window adds to the prefix and the suffix of an earlier
    one, None if it keeps the start of none.

    A suffix is read again where the prefix before it has become longer or shorter by more than a
    few lines.
    """
    for window in earlier:
        if shown.start in _starts_again(text, shown.hole, [window]):
            num_new = shown.hole - (window.hole + shown.start - window.start)
            is_suffix_read = shown.suffix == window.suffix and abs(num_new) <= FEW_LINES_CHARS
            return max(0, num_new), 0 if is_suffix_read else len(shown.suffix)
    return None


def suffix_end(
    text: str, start: int, num_tokens: int, syntax: Syntax | None, earlier: Sequence[Window] = ()
) -> int:
    """Return where a suffix that begins at ``start`` must end to stay within the budget.

    The suffix of one of the ``earlier`` windows is kept under the same rule.
    """
    max_chars = budget_chars(num_tokens)
    for window in earlier:
        end = start + len(window.suffix)
        is_long_enough = end == len(text) or end - start >= FEWEST_KEPT * max_chars
        is_near = is_long_enough and end - start <= MOST_KEPT * max_chars
        is_kept = is_near and text.startswith(window.suffix, start)
        if is_kept and (end in (0, len(text)) or _may_cut(text, end)):
            return end
    latest = start + max_chars
    if latest >= len(text):
        return len(text)
    earliest = latest - int(max_chars * SCOPE_SHARE)
    for edge in reversed(edges_of_scopes(syntax, earliest, latest)):
        end = line_start(text, edge)
        if earliest <= end:
            return end
    end = latest if _is_line_edge(text, latest) else line_start(text, latest)
    return end if end > start else _word_edge_before(text, latest, start)


def _starts_again(text: str, end: int, earlier: Sequence[Window]) -> Iterator[int]:
    """Yield where earlier windows start in this text: at the same offset, or after an edit above.

    A window from the start of a text keeps that start, also where something is written before it.
    """
    for window in earlier:
        if window.start == 0:
            yield 0
            continue
        for start in (window.start, window.start + len(text) - window.num_chars):
            head_start = max(0, window.start - _CHARS_BEFORE_HEAD) - window.start + start
            if head_start >= 0 and start <= end and text.startswith(window.head, head_start):
                yield start


def _is_line_edge(text: str, offset: int) -> bool:
    return line_start(text, offset) == offset and not splits_line_end(text, offset)


def _word_edge_after(text: str, offset: int, end: int) -> int:
    while offset < end and not _may_cut(text, offset):
        offset += 1
    return offset


def _word_edge_before(text: str, offset: int, start: int) -> int:
    while offset > start and not _may_cut(text, offset):
        offset -= 1
    return offset


def _may_cut(text: str, offset: int) -> bool:
    """Whether a cut here splits no word and no character as it is seen."""
    left, right = text[offset - 1], text[offset]
    is_in_word = is_word_character(left) and is_word_character(right)
    is_joined = right == _ZERO_WIDTH_JOINER or left == _ZERO_WIDTH_JOINER
    is_pair = "\ud800" <= left <= "\udbff" and "\udc00" <= right <= "\udfff"
    is_mark = unicodedata.category(right) in _MARKS and not right.isascii()
    is_flag = all("\U0001f1e6" <= each <= "\U0001f1ff" for each in (left, right))
    return not (
        is_in_word or is_joined or is_pair or is_mark or is_flag or splits_line_end(text, offset)
    )


LINE_TOKENS = 48
STATEMENT_TOKENS = 96
"""For a line that may go on over the next ones until its brackets are closed."""

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
    is_short: bool  # it shows less than the budget allows


@dataclass(frozen=True, kw_only=True, slots=True)
class FirstWindow:
    """The most tokens that are read for a first answer, and the windows that were read for such
    answers, the newest first."""

    prefix_tokens: int
    suffix_tokens: int
    earlier: Sequence[Window] = ()


def build_canvas(
    hole: Hole, budget: Budget, earlier: Sequence[Window] = (), first: FirstWindow | None = None
) -> Canvas:
    """Return the canvas of one hole.

    ``earlier`` are windows of the same text or an older version of it, the newest first: the
    canvas keeps their edges where it can. The rules that end the hole are those of the code that it
    is in; what is shown around it is the document, also around a fence of Markdown. With ``first``
    less may be shown.
    """
    code, num_open = hole.code, max_open(hole)
    document = code.outer or code
    cut = _cut(document, hole.given_start, hole.end, budget, earlier)
    less = _less(document.text, cut, budget, earlier, first) if first is not None else None
    if less is not None:
        cut = _cut(document, hole.given_start, hole.end, *less)
    is_statement = num_open is not None and code.syntax is not None
    line_tokens = STATEMENT_TOKENS if is_statement else LINE_TOKENS
    return Canvas(
        **_as_shown(document.text, cut),
        given=document.text[hole.given_start : hole.start].removeprefix(BYTE_ORDER_MARK),
        stop=stop_texts(hole),
        max_open=num_open,
        min_indent=min_indent(hole),
        max_tokens=budget.hole_tokens if hole.kind != "line" else line_tokens,
        kind=hole.kind,
        language=code.language.id,
        is_short=less is not None,
    )


class ShownAround(TypedDict):
    """The fields of a canvas that depend on the budget."""

    prefix: str
    suffix: str
    window: Window


def shown_around(
    document: Code, hole: int, end: int, budget: Budget, earlier: Sequence[Window] = ()
) -> ShownAround:
    """Return what of a text is shown before ``hole``, and after ``end``, where one ends."""
    return _as_shown(document.text, _cut(document, hole, end, budget, earlier))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Cut:
    """The part of a text that is shown around a hole, and the imports from above it."""

    window: Window
    imports: str


def _cut(document: Code, hole: int, end: int, budget: Budget, earlier: Sequence[Window]) -> _Cut:
    text, syntax = document.text, document.syntax

    def start(num_tokens: int) -> int:
        return prefix_start(text, hole, num_tokens, syntax, earlier)

    first, imports = start(budget.prefix_tokens), ""
    if first > 0 and syntax is not None and _statements(text[:HEAD_CHARS]):
        room = min(IMPORT_TOKENS, int(budget.prefix_tokens * IMPORT_SHARE))
        taken = imports_above(text, start(budget.prefix_tokens - room), budget_chars(room), syntax)
        first = start(budget.prefix_tokens - ceil(len(taken) / CHARS_PER_TOKEN))
        imports = imports_above(text, first, budget_chars(room), syntax)
    last = suffix_end(text, end, budget.suffix_tokens, syntax, earlier)
    return _Cut(window=window_of(text, first, hole, text[end:last]), imports=imports)


def _as_shown(text: str, cut: _Cut) -> ShownAround:
    window = cut.window
    return {
        "prefix": cut.imports + _shown(text[window.start : window.hole]),
        "suffix": _shown(window.suffix),
        "window": window,
    }


def _less(
    text: str, cut: _Cut, budget: Budget, earlier: Sequence[Window], first: FirstWindow
) -> tuple[Budget, Sequence[Window]] | None:
    """Return the budget of a first answer, and the windows whose edges it keeps: all of the prefix
    is shown only if it is read.

    None where what would be shown is short, or is nearly read.
    """
    window, kept = cut.window, first.earlier
    least = replace(
        budget,
        prefix_tokens=min(budget.prefix_tokens, first.prefix_tokens),
        suffix_tokens=min(budget.suffix_tokens, first.suffix_tokens),
    )
    prefix_chars = budget_chars(least.prefix_tokens)
    suffix_chars = MOST_KEPT * budget_chars(least.suffix_tokens)
    num_before = len(cut.imports) + _num_shown(text[window.start : window.hole])
    if num_before <= prefix_chars and _num_shown(window.suffix) <= suffix_chars:
        return None
    unread = _unread_chars(text, window, earlier)
    if unread is not None:
        most = budget_chars(least.prefix_tokens + least.suffix_tokens)
        if unread[1] <= suffix_chars and sum(unread) <= most:
            return None
        if unread[0] <= prefix_chars:
            least = replace(least, prefix_tokens=budget.prefix_tokens)
            kept = (*earlier, *kept)
    return least, kept


def _num_shown(text: str) -> int:
    """Return how many characters a text has as it is shown: each line end is one."""
    return len(text) - text.count("\r\n") - text.startswith(BYTE_ORDER_MARK)


def _shown(text: str) -> str:
    return with_plain_newlines(text).removeprefix(BYTE_ORDER_MARK)


_COMMENT_ABOVE = re.compile(r"(?:[ \t]*(?:#|//|/\*|\*).*\n)+[ \t]*\Z")
_NOTE_LINE = re.compile(r"\s*[@#/*\[]")
_HEADER_LINE = re.compile(r"\s*[^)\]}\s]")
_TODO = re.compile(rf"{TODO.pattern}(?:\([^)\n]*\))?:?[ \t]*")


def hide_other_holes(text: str, hole: Hole, others: Sequence[tuple[int, int]]) -> tuple[str, int]:
    """Return the text without the other holes, and by how far the hole moves in it.

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
    return before + text[hole.given_start : until], len(before) - hole.given_start


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


def stop_texts(hole: Hole) -> tuple[str, ...]:
    """Return the stop texts: the fill ends where the first one appears."""
    if hole.kind == "line":
        return ("\n",)
    stops = [_closing_line(hole.header), _first_line_after(hole)]
    stops.append(hole.code.closing_line and f"\n{hole.code.closing_line}")
    return tuple(stop[:MAX_STOP_CHARS] for stop in stops if stop)


def max_open(hole: Hole) -> int | None:
    """Return how many brackets that a line opens are closed by the text after it.

    A line that opens more continues on the next ones. None: it ends at its line end in any case.
    """
    text, language, syntax = hole.code.text, hole.code.language, hole.code.syntax
    is_at_line_end = not text[hole.end : hole.line_end].strip()
    if hole.kind != "line" or hole.start < hole.end or not is_at_line_end:
        return None
    if len(text) > MAX_CHARS_BALANCED or not _is_in_code(hole):
        return None
    if bool(language.grammar) == (syntax is None or language.block_style == "none"):
        return None
    if syntax is not None and not num_errors(syntax):
        return 0
    num_closed = sum(at >= hole.end for at in balance_of(text).unmatched)
    return max(num_closed, int(_is_body_below(hole)))


def _is_body_below(hole: Hole) -> bool:
    """Whether the lines below a line with code are deeper: what closes them is below, too.

    In broken code another bracket may have it for its partner.
    """
    text, line = hole.code.text, hole.code.text[hole.line_start : hole.end]
    if not line.strip() or hole.code.language.block_style != "closed":
        return False
    return columns(next_non_blank_line(text, hole.end) or "") > columns(line)


def min_indent(hole: Hole) -> int:
    """Return by how many columns later lines of the hole must be indented; 0 for any number."""
    if hole.kind == "block":
        header = hole.header
        return 0 if header is None or header.is_flush else _body_columns(header, hole.code.language)
    if hole.kind == "statements":
        return columns(hole.code.text[hole.line_start : hole.start])
    if hole.kind == "span" and hole.code.language.block_style == "indent":
        return _span_columns(hole)
    if hole.kind == "span" and _is_whole(hole):
        return _scope_columns(hole)
    return 0


def is_specific(line: str) -> bool:
    """Whether a line is unlike others: at least three characters, and not only closing marks."""
    beginning = line[:MAX_CHARS_LOOKED_AT]
    num_visible = sum(not character.isspace() for character in beginning)
    return num_visible >= MIN_SPECIFIC_CHARS and not _CLOSING_ONLY.fullmatch(beginning)


def _is_in_code(hole: Hole) -> bool:
    """Whether an insertion continues code, and not a string or a comment."""
    before = hole.code.text[hole.line_start : hole.start].rstrip()
    last = hole.line_start + len(before) if before else hole.start
    return is_code(hole.code.syntax, max(0, last - 1))


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


def _first_line_after(hole: Hole) -> str | None:
    """Return the first line after the hole as the fill would write it, if it is specific.

    It includes the line end where more could follow: "return x" is not "return xyz".
    """
    text = hole.code.text
    before, rest = text[hole.line_start : hole.start], text[hole.end : hole.line_end]
    if rest.strip() and not before.strip(" \t\ufeff"):
        line: str | None = before + rest
    else:
        line = next_non_blank_line(text, hole.end)
    if line is None or not is_specific(line):
        return None
    line = line.rstrip().removeprefix("\ufeff")
    return "\n" + line + ("" if line.endswith(_ENDS_STATEMENT) else "\n")


def _is_whole(hole: Hole) -> bool:
    """Whether the hole splits no scope, as far as the parser and the brackets tell."""
    code = hole.code
    if code.syntax is None or code.language.block_style != "closed":
        return False
    removed = balance_of(code.text[hole.start : hole.end])
    return removed == balance_of("") and not num_errors(code.syntax)


def _span_columns(hole: Hole) -> int:
    """Return the least indentation of the lines that a hole replaces, its own line's included.

    Where it replaces none, the next line tells how many blocks may be left: all but the outermost.
    """
    text = hole.code.text
    lines = text[hole.line_start : hole.end].splitlines()
    least = min((columns(line) for line in lines if line.strip()), default=0)
    if text[hole.start : hole.end].strip():
        return least
    following = (next_non_blank_line(text, hole.start) or "")[:MAX_CHARS_LOOKED_AT]
    ends_block = _CLOSING_ONLY.fullmatch(following) or _ENDS_BLOCK.match(following)
    return min(least, max(1, columns(following) + bool(ends_block)))


def _scope_columns(hole: Hole) -> int:
    """Return the least indentation of a hole before a line of closing marks: further in than that.

    Before any other line the stop text ends the hole, and any indentation is allowed (0).
    """
    closing = next_non_blank_line(hole.code.text, hole.end)
    is_at_line_end = not hole.code.text[hole.end : hole.line_end].strip()
    if closing is None or not is_at_line_end:
        return 0
    beginning = closing[:MAX_CHARS_LOOKED_AT]
    return columns(beginning) + 1 if _CLOSING_ONLY.fullmatch(beginning) else 0


HEAD_CHARS = 12_000
"""How much of a file is looked at."""

_IMPORT = (
    r"(?:@\w+[ \t]+)?import\b(?![ \t]*(?:[:.,;)]|[(=][^\r\n]))|from[ \t]+[\w.]+[ \t]+import\b"
    r"|#[ \t]*(?:include|import)\b|(?:pub(?:\([\w: ]+\))?[ \t]+)?use[ \t]+[\w\\:{]"
    r"|extern[ \t]+crate\b|(?:global[ \t]+)?using[ \t][\w.:= \t]+;|alias[ \t]+[A-Z]"
    r"|(?:const|let|var|local)\b[^=\r\n]{1,200}=[ \t]*(?:require|@import)\b"
)
_LINE = re.compile(rf"(?<![^\r\n\ufeff])(?:(?P<statement>[ \t]*(?:{_IMPORT}))|[^\s)\]}}])")
_MAY_HOLD = re.compile(r"(?:if|else|try|except|defmodule)\b|#[ \t]*if|<script")
"""Begins a line whose indented lines may be imports of the whole file."""

_OF_PROJECT = re.compile(
    r"""\bfrom[ \t]+\.|["'](?:[.#]|[@~]/)|\b(?:crate|super)::|#[ \t]*include[ \t]*\""""
)


def imports_above(text: str, end: int, max_chars: int, syntax: Syntax) -> str:
    """Return imports that end before ``end``, one below the other, and a blank line; "" for none.

    If not all fit, those that plainly mean a file of the project go before others, and later ones
    before earlier ones: a package's own come last by custom. A long list loses its first lines.
    """
    found = [it for it in _statements(text[:HEAD_CHARS]) if it[1] <= end]
    ranked = sorted(found, key=lambda it: (not _OF_PROJECT.search(text, *it), -it[0]))
    kept: dict[int, str] = {}
    room = max_chars - 1
    for start, stop in ranked:
        lines = dedent(with_plain_newlines(text[start:stop])).split("\n")
        while len("\n".join(lines)) >= room and len(lines) > 3:
            del lines[1]
        statement = "\n".join(lines)
        word = start + len(leading_blank(text[start:stop]))
        if len(statement) < room and is_code(syntax, word):
            kept[start] = statement
            room -= len(statement) + 1
    return "".join(f"{kept[start]}\n" for start in sorted(kept)) + "\n" * bool(kept)


@lru_cache(maxsize=8)
def _statements(head: str) -> tuple[tuple[int, int], ...]:
    """Return where imports begin and end; after one that is not closed, nothing is looked for."""
    found: list[tuple[int, int]] = []
    may_hold = False
    for line in _LINE.finditer(head):
        start = line.start()
        if line["statement"] is None:
            may_hold = _MAY_HOLD.match(head, start) is not None
        elif may_hold or not line["statement"][0].isspace():
            stop = _statement_end(head, start)
            if stop == len(head):
                break
            found.append((start, stop))
    return tuple(found)


def _statement_end(head: str, start: int) -> int:
    """Return where the line ends on which all brackets are closed that the statement opens."""
    num_open = 0
    while start < len(head):
        end = line_end(head, start)
        line = head[start:end].rstrip()
        num_open += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
        if num_open <= 0 and not line.endswith((",", "\\")):
            return end
        start = next_line_start(head, end)
    return len(head)
