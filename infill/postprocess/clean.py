"""Cleans the model's raw text into a suggestion: a list of small filters, applied in order.

A filter takes the fill and its context. It returns the fill, changed or not, or the reason why
nothing is suggested. The filters here drop what is no part of a fill, and adapt its ends and its
indentation to the lines around it. Those of ``cut`` end it earlier, those of ``fit`` decide whether
it fits into the file. ``clean``, at the end, applies them all. In drawings ``║`` is the cursor, and
the fill is between ``├`` and ``┤``.

def f():⏎    ├    return 1┤   →   def f():⏎    ├return 1┤
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from intarsia.infill.canvas import Canvas
from intarsia.infill.holes.hole import MAX_GIVEN_CHARS, Hole, is_word_character
from intarsia.infill.postprocess.cut import NOTHING_FITS, cut, reject_known_line
from intarsia.infill.postprocess.fit import (
    CleaningContext,
    balance_brackets,
    cleaning_context,
    errors_with,
    is_elsewhere,
    is_no_worse,
    shorten_or_reject,
)
from intarsia.infill.suggestion import NoSuggestion, Suggestion
from intarsia.infill.syntax.text import (
    CLOSERS,
    balance_of,
    columns,
    first_hidden,
    free_lines,
    indent_unit,
    leading_blank,
    newline_of,
    with_plain_newlines,
)
from intarsia.infill.syntax.tree import is_code


def close_on_own_line(fill: str, context: CleaningContext) -> str:
    """End a body of several lines with a line end and the indentation of its header.

    f() {├⏎    a();┤}   →   f() {├⏎    a();⏎┤}
    """
    header = context.hole.header
    if header is None or header.closer is None or "\n" not in fill:
        return fill
    if not context.rest.strip().startswith(header.closer):
        return fill
    return fill.rstrip() + "\n" + header.indent


def keep_line_end(fill: str, context: CleaningContext) -> str:
    """End the fill with a line end if the replaced text had one, or a whole line follows it.

    ├a = 1┤b = 2   →   ├a = 1⏎┤b = 2
    """
    if context.hole.kind != "span":
        return fill
    body = fill.rstrip()
    removed = context.text[context.hole.start : context.hole.end]
    if removed.rstrip(" \t").endswith(("\n", "\r")):
        return body + "\n" + leading_blank(removed[::-1])[::-1]
    if removed or context.line_before.strip() or not context.rest.strip():
        return fill
    on_own_line = body + "\n" + context.line_before
    ends_with_blank = fill[-1] in " \t" and fill.rstrip(" \t")[-1:] != "\n"  # the rest goes on
    is_on_own_line = "\n" in fill and not ends_with_blank
    candidates = (on_own_line, fill) if is_on_own_line else (fill, on_own_line)  # likelier first
    return min(candidates, key=lambda candidate: errors_with(candidate, context))


_NEEDS_NO_BLANK = tuple(" \t)];,:")


def trim_blank(fill: str, context: CleaningContext) -> str:
    """Trim the end before a line end or closing mark, and the start after a blank.

    x = ├ 1 ┤)   →   x = ├1┤)
    """
    before, rest = context.line_before, context.rest
    if before.strip() and before[-1] in " \t":
        fill = fill.lstrip(" \t")
    if not rest.strip():
        return fill.rstrip()
    return fill.rstrip(" \t") if rest.startswith(_NEEDS_NO_BLANK) else fill


_SPECIAL = re.compile(
    r"<\|[A-Za-z0-9_]{1,40}\|>|<｜[^｜\n]{1,40}｜>|<fim_(?:prefix|suffix|middle|pad)>|<EOT>|\0"
    r"|<(?:gh_stars|reponame|empty_output|issue_(?:start|comment|closed)|jupyter_(?:start|text|code)"
    r"|commit_(?:before|msg|after))>"
)
_CUT_CHARACTER = "\ufffd"


def drop_special_tokens(fill: str, context: CleaningContext) -> str:
    """Cut at end-of-text, FIM and mask tokens, and drop an incomplete character at the end."""
    mark = _SPECIAL.search(fill)
    return (fill[: mark.start()] if mark else fill).rstrip(_CUT_CHARACTER)


_EXTENDS_EMOJI = re.compile("[\u200d\ufe0f\u20e3\U0001f3fb-\U0001f3ff]")


def cut_at_hidden_character(fill: str, context: CleaningContext) -> str:
    """Cut at the first hidden character that the file does not have yet.

    x = ├'a⟨U+202E⟩b'┤   →   x = ├'a┤

    A fill that would change the emoji before the cursor is dropped.
    """
    last = context.line_before[-1:] or " "
    if _EXTENDS_EMOJI.match(fill) and unicodedata.category(last) in ("So", "Sk"):
        return ""
    return fill[: first_hidden(fill, context.text)]


_GOES_ON_FROM_WORD = (".", "(", "::", "->", "?.")


def reject_longer_word(fill: str, context: CleaningContext) -> str | NoSuggestion:
    """Reject a fill that lengthens the word before the cursor if the user has chosen that word."""
    is_given = context.hole.given_start < context.hole.start
    if is_given or not is_word_character(context.line_before[-1:]):
        return fill
    if is_word_character(fill[0]):
        return NoSuggestion(reason="the word chosen in the menu would become longer")
    if context.rest.startswith(_GOES_ON_FROM_WORD):  # the line goes on from the word already
        return NoSuggestion(reason=NOTHING_FITS, kind="empty")
    return fill


_BEGINS_STRING = re.compile(r"(?<![\"'])(?:\"{3}|'{3})\Z")


def drop_quotes_again(fill: str, context: CleaningContext) -> str:
    """Drop the quotes with which a fill begins a long string that is begun already.

    '''├''Add.'''┤   →   '''├Add.'''┤
    """
    begun = _BEGINS_STRING.search(context.line_before)
    if begun is None or context.line_before.count(begun[0]) % 2 == 0 or fill.startswith(begun[0]):
        return fill
    return fill.lstrip(begun[0][0])


def drop_sigil_again(fill: str, context: CleaningContext) -> str:
    """Drop the ``$`` of a variable that is begun already.

    f($├$name┤)   →   f($├name┤)
    """
    if context.syntax is None or not context.line_before.endswith("$") or "$$" in context.text:
        return fill
    return fill[1:] if fill[0] == "$" and is_word_character(fill[1:2]) else fill


_MIN_CHARS_BEGUN = 8
_BEGINS_WITH_WORD = re.compile(r"\W{0,3}[^\W\d_]{2}")


def drop_line_again(fill: str, context: CleaningContext) -> str:
    """Drop the beginning of the cursor's line, if the fill begins with it once more.

    subtotal = ├subtotal = sum(a)┤   →   subtotal = ├sum(a)┤
    """
    begun, written = context.line_before.strip(), fill.lstrip(" \t")
    if len(begun) < _MIN_CHARS_BEGUN or not _BEGINS_WITH_WORD.match(begun):
        return fill
    return written[len(begun) :] if written.startswith(begun) else fill


_MAX_LETTERS = 3
_WHOLE_WORD = re.compile(r"[^\W\d]\w{2,}\Z")
_LETTERS = re.compile(r"(\w+)(?:\(\)|(?!\()\W.*)?", re.DOTALL)
_BEHIND_NAME = re.compile(r"\s*[).\]},;]|[/\\-]\w")


def reject_letters_at_known_word(fill: str, context: CleaningContext) -> str | NoSuggestion:
    """Reject letters that make of a word of the file one that the file does not have.

    More than three letters pass where no mark behind the cursor ends the word. So do those that
    begin a call, or a text in a comment or a string.

    limit = 1⏎print(limit├s┤)   →   nothing
    """
    letters = _LETTERS.fullmatch(fill)
    if letters is None or not _WHOLE_WORD.search(context.line_before[-MAX_GIVEN_CHARS:]):
        return fill
    is_name = fill.removesuffix("()") == letters[1]
    is_in_code = context.syntax is not None and is_code(context.syntax, context.hole.start - 1)
    is_sure = len(letters[1]) <= _MAX_LETTERS and (is_name or is_in_code)
    is_sure |= is_name and _BEHIND_NAME.match(context.rest) is not None
    if not is_sure or is_elsewhere(letters[1], context) or not is_elsewhere("", context):
        return fill
    return NoSuggestion(reason=NOTHING_FITS, kind="empty")


_OPENING = re.compile(r"\s*(?:```|~~~)[\w+#-]*\n")
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)


def drop_code_fence(fill: str, context: CleaningContext) -> str:
    """Drop an opening fence and end the fill at a closing one; not in plain text or a string."""
    opening = _OPENING.match(fill)
    inner = fill[opening.end() :] if opening else fill
    closing = _FENCE.search(inner)
    if not (opening or closing) or not context.language.grammar or context.is_in_string:
        return fill
    return inner[: closing.start()].rstrip("\n") if closing else inner


_BLANK_LINES = re.compile(r"(?:[ \t]*\n)+")


def drop_leading_blank_lines(fill: str, context: CleaningContext) -> str:
    """Drop blank lines at the start; one line end stays after a header on the cursor's line.

    They stay where the replaced text begins with one.
    """
    blank, hole = _BLANK_LINES.match(fill), context.hole
    removed = context.text[hole.start : hole.end].lstrip(" \t")
    if blank is None or hole.kind == "line" or removed.startswith(("\n", "\r")):
        return fill
    if not context.line_before.strip():
        return fill[blank.end() :]
    return "\n" + fill[blank.end() :] if hole.kind == "block" else fill


MAX_DROPPED_LINES = 8


def drop_broken_tail(fill: str, context: CleaningContext) -> str:
    """Keep as many lines as parse no worse than before; all lines if no shorter fill does.

    ├a = 1⏎b = foo(┤   →   ├a = 1┤
    """
    lines = fill.split("\n")
    if context.syntax is None or len(lines) == 1:
        return fill
    for num_dropped in range(min(MAX_DROPPED_LINES, len(lines) - 1) + 1):
        kept = "\n".join(lines[: len(lines) - num_dropped])
        if num_dropped or context.hole.kind != "span":  # a span may end before a word or a line
            kept = kept.rstrip()
        if not kept.strip():
            break
        if is_no_worse(keep_line_end(kept, context), context):
            return kept
    return fill


def fix_indentation(fill: str, context: CleaningContext) -> str:
    """Drop surplus blanks of the first line, and indent the others by the file's tabs or spaces."""
    first, *later = fill.split("\n")
    if context.language.block_style == "none":
        return "\n".join([_at_cursor(first, context), *later]) if context.line_before else fill
    fitted = _at_cursor(first, context)
    later = _in_step(later, len(first) - len(fitted), context)
    return "\n".join([fitted, *_in_unit(later, context)])


def _in_step(lines: list[str], num_dropped: int, context: CleaningContext) -> list[str]:
    """Return the lines of a body by the file's unit, where its first line had a wider one."""
    header, column = context.hole.header, columns(context.line_before)
    wider = column + num_dropped
    if header is None or not num_dropped or context.line_before.strip():
        return lines
    unit, wider_unit = column - header.columns, wider - header.columns
    if unit <= 0 or any(line.strip() and columns(line) < wider for line in lines):
        return lines

    def moved(line: str) -> str:
        depth, rest = divmod(columns(line) - header.columns, wider_unit)
        return " " * (header.columns + depth * unit + rest) + line.lstrip()

    return [moved(line) if line.strip() and "\t" not in line else line for line in lines]


def _at_cursor(first: str, context: CleaningContext) -> str:
    """Return the first line without the indentation that the cursor's line already has."""
    before = context.line_before
    if before.strip() or not first.strip():
        return first
    if context.hole.header is None and context.language.block_style == "indent":
        return _in_an_open_block(first, context)
    if not before:
        return first
    room = _expected_columns(first, context) - columns(before)
    return _with_columns(first, room) if columns(first) > max(room, 0) else first


def _with_columns(line: str, num_columns: int) -> str:
    """Return the line with at most this indentation: as much of its own as there is room for."""
    blank = leading_blank(line)
    ends = range(len(blank), 0, -1)
    kept = next((end for end in ends if columns(blank[:end]) <= num_columns), 0)
    return blank[:kept] + line[len(blank) :]


_OPENS = re.compile(r"[:{(\[]$|(?:[=\\>]|\b(?:begin|do|else|of|then|where|with))$")


def _expected_columns(first: str, context: CleaningContext) -> int:
    """Return how far the first line should be indented, by its header or by the line above.

    A closing bracket belongs at the indentation of the line with its opening one.
    """
    unit = columns(_unit_around(context) or "    ")
    header = context.hole.header
    if header is not None:
        return header.columns + unit
    unclosed = balance_of(context.before).unclosed if first.lstrip()[0] in CLOSERS else ()
    if unclosed:
        return columns(context.before[context.before.rfind("\n", 0, unclosed[-1]) + 1 :])
    if not context.above:
        return 0
    is_opened = _OPENS.search(context.above[0]) is not None
    return columns(context.above[0]) + (unit if is_opened else 0)


def _in_an_open_block(first: str, context: CleaningContext) -> str:
    """Return the first line at a column where a statement may begin: that of an open block."""
    if context.is_in_string or balance_of(context.before).unclosed:
        return first  # what continues a statement may be at any column
    before = context.line_before
    column, least = columns(before + leading_blank(first)), columns(before)
    allowed = _open_columns(context)
    if not allowed or column in allowed:
        return first
    unknown = column if context.hole.kind == "span" else least  # some bodies are indented by less
    nearest = max((each for each in allowed if least <= each < column), default=unknown)
    return _with_columns(first, nearest - least)


def _open_columns(context: CleaningContext) -> list[int]:
    """Return the columns of the blocks that are open at the hole, the innermost one first."""
    unit = columns(indent_unit(context.before) or "    ")
    found: list[int] = []
    begin = context.hole.start - len(context.before)  # about there: before has plain line ends
    for offset, line in reversed(free_lines(context.before[: -len(context.line_before) or None])):
        first = max(0, begin + offset + len(leading_blank(line)))
        goes_on = context.before[max(0, offset - 2) : offset] == "\\\n"  # with the line above
        if not line.strip() or goes_on or not is_code(context.syntax, first):
            continue
        if not found and re.search(context.language.header or r"(?!)", line.rstrip()):
            return [columns(line) + unit]
        starts = [columns(line)]
        if line.lstrip().startswith("- "):  # YAML: the keys of an item begin behind its dash
            starts.insert(0, len(line) - len(line.lstrip().removeprefix("- ").lstrip()))
        found += [each for each in starts if not found or each < found[-1]]
        if found and found[-1] == 0:
            break
    return found


def _unit_around(context: CleaningContext) -> str | None:
    """Return the unit of indentation around the hole; blanks before the cursor show it too."""
    return indent_unit("\n".join((context.before + "x", *context.following)))


def _in_unit(lines: list[str], context: CleaningContext) -> list[str]:
    unit = _unit_around(context) if lines else None
    if unit is None:
        return lines
    return [_with_tabs(line, lines) if unit == "\t" else _with_spaces(line, unit) for line in lines]


def _with_spaces(line: str, unit: str) -> str:
    blank = leading_blank(line)
    return blank.replace("\t", unit) + line[len(blank) :]


def _with_tabs(line: str, lines: list[str]) -> str:
    """Turn each group of spaces into a tab; remaining spaces are for alignment and stay."""
    blank = leading_blank(line)
    is_by_four = all(len(leading_blank(other)) % 4 == 0 for other in lines if other.strip())
    return blank.replace("    " if is_by_four else "  ", "\t") + line[len(blank) :]


_DOCSTRING = re.compile(r"\s*[rRuU]?(?P<quotes>\"{3}|'{3})")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


def end_docstring(fill: str, context: CleaningContext) -> str:
    """End a docstring with its summary where the hole had no room for all of it.

    ├\"""Sort the rows.⏎⏎    Rows that┤   →   ├\"""Sort the rows.\"""┤
    """
    begun = _DOCSTRING.match(fill)
    if begun is None or not context.language.has_docstrings or context.is_in_string:
        return fill
    quotes = begun["quotes"]
    summary, *others = _BLANK_LINE.split(fill[begun.end() :], maxsplit=1)
    if not others or not summary.strip() or quotes in fill[begun.end() :]:
        return fill
    blank = leading_blank((context.line_before + begun.group()).rpartition("\n")[2])
    own_line = f"\n{blank}" if "\n" in summary else ""
    return begun.group() + summary.rstrip() + own_line + quotes


MAX_LINES_OF_STATEMENT = 40
"""So far from the hole a clause of its statement is looked for."""

_ORDER = ("from", "join", "where", "group", "having", "order", "limit", "offset", "returning")
_CLAUSE = re.compile(
    r"(?:(?:inner|cross|natural|(?:left|right|full)(?:\s+outer)?)\s+)?"
    r"(?P<word>from|join|where|group(?=\s+by)|having|order(?=\s+by)|limit|offset"
    r"|fetch(?=\s+(?:first|next))|returning)\b",
    re.IGNORECASE,
)
_BEGINS_STATEMENT = re.compile(
    r"(?:alter|begin|create|delete|end|except|insert|intersect|merge|select|set|union|update|values"
    r"|with)\b|[)\"'`]",
    re.IGNORECASE,
)
_JOINED = re.compile(r".*\bjoin\s+(?P<table>[^\s(]+(?:\s+(?:as\s+)?\w+)?)\s+on\b", re.IGNORECASE)


def keep_clause_order(fill: str, context: CleaningContext) -> str | NoSuggestion:
    """Keep the clauses of SQL in their order, in its files and in the strings of other languages.

    No grammar checks this: in most of them each clause is a statement of its own.

    FROM a⏎├WHERE b┤⏎GROUP BY c   →   as it is
    FROM a⏎├LIMIT 1┤⏎GROUP BY c   →   nothing
    FROM a⏎├WHERE b;┤⏎GROUP BY c   →   FROM a⏎├WHERE b┤⏎GROUP BY c
    """
    clause = _clause_of((context.line_before + fill).strip(), context)
    if clause is None or not context.is_line_empty or "\n" in fill:
        return fill
    column = columns(context.line_before + fill)
    above = context.above[:MAX_LINES_OF_STATEMENT]
    before = next(_clauses(above, column, context, is_upward=True), None)
    after = next(_clauses(context.following[:MAX_LINES_OF_STATEMENT], column, context), None)
    if (before and not before.may_precede(clause)) or (after and not clause.may_precede(after)):
        return NoSuggestion(reason=NOTHING_FITS, kind="empty")
    return fill.rstrip().removesuffix(";") if after else fill


@dataclass(frozen=True, kw_only=True, slots=True)
class _Clause:
    name: str  # one of _ORDER
    table: list[str]  # of a join: the words that name its table; else empty

    def may_precede(self, other: "_Clause") -> bool:
        if self.name == other.name == "join":
            return not self.table or self.table != other.table
        if {self.name, other.name} == {"limit", "offset"}:
            return True
        return _ORDER.index(self.name) < _ORDER.index(other.name)


def _clause_of(line: str, context: CleaningContext) -> _Clause | None:
    """Return the clause that a line begins with; in a string it begins with capitals."""
    found = _CLAUSE.match(line)
    if found is None:
        return None
    word, joined = found["word"].lower(), _JOINED.match(line)
    if not context.language.has_clauses and not (context.is_in_string and found["word"].isupper()):
        return None
    table = joined["table"].lower().split() if joined else []
    return _Clause(name="limit" if word == "fetch" else word, table=table)


def _clauses(
    lines: Iterable[str], column: int, context: CleaningContext, *, is_upward: bool = False
) -> Iterator[_Clause]:
    """Yield the clauses that begin at the column, up to where the statement ends."""
    for line in lines:
        code = line.strip()
        is_end = columns(line) < column or (is_upward and code.endswith(";"))
        if is_end or (columns(line) == column and _BEGINS_STATEMENT.match(code)):
            return
        if columns(line) == column and (clause := _clause_of(code, context)):
            yield clause
        if code.endswith(";"):
            return


Filter: TypeAlias = Callable[[str, CleaningContext], str | NoSuggestion]

MAX_RAW_CHARS = 8_000
"""No hole is this long; text after it is not read."""

FILTERS: tuple[Filter, ...] = (
    drop_special_tokens,
    cut_at_hidden_character,
    drop_quotes_again,
    drop_sigil_again,
    drop_line_again,
    drop_code_fence,
    reject_longer_word,
    drop_leading_blank_lines,
    cut,
    fix_indentation,
    end_docstring,
    trim_blank,
    keep_clause_order,
    reject_known_line,
    reject_letters_at_known_word,
    balance_brackets,
    drop_broken_tail,
    close_on_own_line,
    keep_line_end,
    shorten_or_reject,
)


def clean(raw: str, hole: Hole, canvas: Canvas) -> Suggestion | NoSuggestion:
    """Return the text after every filter, with the file's line ends, or why nothing is left."""
    fill = with_plain_newlines(raw[:MAX_RAW_CHARS])
    context = cleaning_context(hole, canvas, fill)
    for apply in FILTERS:
        if not fill.strip():
            return NoSuggestion(reason=_why_empty(raw, apply), kind="empty")
        filtered = apply(fill, context)
        if isinstance(filtered, NoSuggestion):
            return filtered
        fill = filtered
    if "\n" in fill:
        fill = fill.replace("\n", newline_of(context.text))
    return Suggestion(text=fill, start=hole.start, end=hole.end)


_WHY_EMPTY: Mapping[Filter, str] = {
    drop_special_tokens: "the model wrote nothing",
    balance_brackets: "a bracket would be closed that is not open",
}


def _why_empty(raw: str, next_filter: Filter) -> str:
    if not raw.strip():
        return "the model wrote nothing"
    last_filter = FILTERS[FILTERS.index(next_filter) - 1]
    return _WHY_EMPTY.get(last_filter, NOTHING_FITS)
