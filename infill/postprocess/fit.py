"""A filter's view of the file around the hole, and whether a fill fits into it.

The checks of words, quotes and brackets need no parser: they hold for every language, and where the
parser does not know the file well. Filters here balance the brackets of a fill, and reject one that
adds parse errors to its file.

foo(├a)┤)   →   foo(├a┤)
x = ├[f(a┤ + 1   →   x = ├[f(a)]┤ + 1
"""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from itertools import chain, islice

from intarsia.infill.canvas import Canvas
from intarsia.infill.holes.hole import Hole, is_word_character
from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.text import (
    BYTE_ORDER_MARK,
    CLOSERS,
    MAX_LOOK_BACK,
    PAIRS,
    Balance,
    balance_of,
    columns,
    leading_blank,
    open_quote,
    opener_of,
    with_plain_newlines,
)
from intarsia.infill.syntax.tree import (
    MAX_ERRORS,
    Syntax,
    is_code,
    is_in_open_comment,
    is_inside_string,
    num_errors,
    num_errors_with,
    parse_edited,
)

MAX_CHARS_AROUND = 4_000
"""Filters look no further than this from the hole."""

PARSING_S = 0.25
PARSING_S_PER_MEGABYTE = 1.0
"""The time for all parses of one fill. For good code they take a tenth of it."""


class ParsingTime:
    """The remaining time for parsing the file with one fill, in seconds of this thread."""

    def __init__(self, left_s: float) -> None:
        self._left_s = left_s

    @property
    def is_over(self) -> bool:
        return self._left_s <= 0

    @contextmanager
    def spent(self) -> Iterator[None]:
        """Count the time that the block takes."""
        started = time.thread_time()
        try:
            yield
        finally:
            self._left_s -= time.thread_time() - started


@dataclass(frozen=True, kw_only=True)
class CleaningContext:
    """A hole in its file. All texts but ``text`` have LF line ends."""

    text: str  # the whole file, with its own line ends; of a document, the code around the hole
    hole: Hole
    canvas: Canvas
    language: Language
    syntax: Syntax | None
    before: str  # the text before the hole, as far as filters look
    line_before: str  # the hole's own line up to the hole
    rest: str  # the rest of the line on which the hole ends, as far as filters look
    above: tuple[str, ...]  # the non-blank lines before the hole's own, the nearest first
    following: tuple[str, ...]  # the non-blank lines after the one on which the hole ends
    line_below: str  # the next line, which may be blank
    written: str  # the model's whole text, if it is known
    parsing_time: ParsingTime = field(compare=False, repr=False)

    @property
    def is_line_empty(self) -> bool:
        """Whether only blanks are on the hole's line."""
        return not self.line_before.strip() and not self.rest.strip()

    @cached_property
    def is_in_string(self) -> bool:
        return is_inside_string(self.syntax, self.hole.start)

    @property
    def is_in_macro(self) -> bool:
        """Whether the line is a directive of C, whose text the grammar does not read."""
        return self.language.has_macros and self.line_before.lstrip().startswith("#")

    @cached_property
    def balance(self) -> Balance:
        """The brackets around the hole, matched without a fill."""
        return balance_with("", self)

    @cached_property
    def brackets_above(self) -> str:
        """The brackets above the hole's line that have no partner there, and a line end."""
        start = max(0, self.hole.start - len(self.line_before))
        above = self.text[max(0, start - MAX_LOOK_BACK) : start]
        code = _LIST_ITEM.sub(r"\1 ", with_plain_newlines(above))
        balance = balance_of(code)
        return "".join(code[at] for at in (*balance.unmatched, *balance.unclosed)) + "\n"

    @cached_property
    def form_above(self) -> str | None:
        """Lisp's form around the hole, up to it; None where no line begins with an open bracket."""
        if self.syntax is not None:
            return None
        above = self.text[max(0, self.hole.start - MAX_LOOK_BACK) : self.hole.start]
        form = above[above.rfind("\n(") + 1 :].replace("'", " ")
        return form if balance_of(form).unclosed[:1] == (0,) and form[0] == "(" else None

    @cached_property
    def is_quote_open(self) -> bool:
        """Whether a quote is open at the end of the hole's line without a fill."""
        return open_quote(self.line_before + self.rest) is not None


def cleaning_context(hole: Hole, canvas: Canvas, written: str = "") -> CleaningContext:
    """Return the context of a hole. In a Markdown fence only its code is looked at."""
    text, syntax = hole.code.text, hole.code.syntax
    if is_in_open_comment(syntax, hole.line_start, hole.start):
        syntax = None  # it reads the words as code
    before = with_plain_newlines(text[max(0, hole.start - MAX_CHARS_AROUND) : hole.start])
    after = with_plain_newlines(text[hole.line_end : hole.line_end + 1 + MAX_CHARS_AROUND])
    lines = after.split("\n")
    return CleaningContext(
        text=text,
        hole=hole,
        canvas=canvas,
        language=hole.code.language,
        syntax=syntax,
        before=before,
        line_before=text[hole.line_start : hole.start].removeprefix(BYTE_ORDER_MARK),
        rest=text[hole.end : min(hole.line_end, hole.end + MAX_CHARS_AROUND)],
        above=tuple(line.rstrip() for line in before.split("\n")[-2::-1] if line.strip()),
        following=tuple(line.rstrip() for line in lines if line.strip()),
        line_below="".join(lines[1:2]),
        written=written,
        parsing_time=ParsingTime(PARSING_S + PARSING_S_PER_MEGABYTE * len(text) / 1e6),
    )


WORDS_JOINED = "two words would be joined"

REMARK = re.compile(r"\s*(?:#+'?|//[/!]?|--+|;+|%+|<!--|\{#|/?\*+|\"(?= \w))(?:\s|\Z)")
"""A line that begins as a comment does, in a language without a grammar."""

_QUOTES: tuple[str, ...] = ('"', "'")
_LIST_ITEM = re.compile(r"(?m)^(\s*(?:\w|\w{2,3}(?=\)[ \t])))\)")


def why_it_does_not_fit(
    fill: str, context: CleaningContext, *, may_go_on: bool = False
) -> str | None:
    """Return what a fill would break, in words for users; None if it fits.

    ``may_go_on``: a later line may close the brackets that the fill leaves open.
    """
    if context.hole.start < context.hole.end:
        return None  # what is replaced may have held marks of its own
    if joins_words(fill, context):
        return WORDS_JOINED
    if leaves_quote_open(fill, context):
        return "a quote would be left open"
    with_fill, without = balance_with(fill, context), context.balance
    may_go_on = may_go_on or _opens_block(fill, context)
    is_worse = num_unbalanced(with_fill) > num_unbalanced(without)
    if is_worse and not may_go_on and len(with_fill.unclosed) > len(without.unclosed):
        return "a bracket would be left open"
    if num_closed_twice(fill, context) or len(with_fill.unmatched) > len(without.unmatched):
        return "a bracket would be closed that is not open"
    return None


_GOES_ON = re.compile(r"[,.;>]\s*[(\[{]$")


def _opens_block(fill: str, context: CleaningContext) -> bool:
    """Whether a line ends with the one bracket that it opens, and begins a block as others do.

    Its body is below already, or a blank line or the file's end is there instead.
    """
    line, hole = (context.line_before + fill).rstrip(), context.hole
    is_head = balance_of(line).unclosed == (len(line) - 1,) and not context.rest.strip()
    if not is_head or hole.kind != "line" or hole.is_inserted or _GOES_ON.search(line):
        return False
    if not any(other.endswith(line[-1]) for other in (*context.above, *context.following)):
        return False
    below = context.line_below
    return not below.strip() or columns(below) > columns(line)


def num_closed_twice(fill: str, context: CleaningContext) -> int:
    """Count the brackets that the fill closes although the rest of its line closes them.

    In a file that is broken elsewhere, other brackets may balance them. That counts only if the
    line alone, without the fill, closes brackets of the lines above.

    f(g[║]   →   1 for ├0])┤
    """
    rest = context.rest
    if not balance_of(rest).unmatched:
        return 0
    line = balance_of(context.line_before + rest)
    with_fill = balance_of(context.line_before + fill + rest)
    count = max(0, len(with_fill.unmatched) - len(line.unmatched))
    if not line.unmatched:
        return count
    new, old = balance_with(fill, context), context.balance
    return count if num_unbalanced(new) >= num_unbalanced(old) else 0


_ENDS_ENTITY = re.compile(r"&\w{1,5};$")
_AFTER_STATEMENT = ")]};,\"'` \t"
_ENDS_VALUE = (")", "]", "}", '"', "'", "{", ",")
_NUMBER = re.compile(r"(?<!\w)[\d.]*\d\Z")
_UNIT = re.compile(
    r"(?:px|r?em|ex|ch|fr|pt|pc|[cm]m|in|[dls]?v[hw]|vmin|vmax|deg|rad|turn|dpi|x|[munp]?s|min|h|d"
    r"|[kmgt]?i?b|[fuiln]{1,3}|[iuf](?:8|16|32|64|128)|[iu]size)\b"
)


_OPERATOR = re.compile(r"\s+(?:<<|>>|&&|\|\||[-+/%=?<>|])\s")
_LONE_VALUE = re.compile(r"[ \t]+[\w.#%^~<>=-]+;")


def joins_words(fill: str, context: CleaningContext) -> bool:
    """Whether the fill runs into what is right behind the cursor: a word, or the next statement.

    A fill may complete a word around the cursor, ``us║Name``, to one that is in the file elsewhere,
    unless the word without the fill is there too: then it is whole already.
    """
    rest, last = context.rest[:1], fill[-1:]
    if _joins_values(fill, context):
        return True
    is_statement = last == ";" and not _ENDS_ENTITY.search(fill)
    goes_on = _OPERATOR.match(context.rest) or (
        context.syntax is None and _LONE_VALUE.fullmatch(context.rest)
    )
    if is_statement and (rest.strip(_AFTER_STATEMENT) or goes_on):
        return context.hole.kind == "line" and not balance_of(context.line_before + fill).unclosed
    if not (rest.isascii() and is_word_character(rest)):  # some scripts have no blanks
        return False
    if (_NUMBER.search(fill) and _UNIT.match(context.rest)) or completes_cut_word(fill, context):
        return False
    if is_word_character(context.line_before[-1:]):
        if context.hole.kind != "line":
            return False
        if is_in_whole_word(context):
            return fill != ""
        is_completed = all(map(is_word_character, fill)) and is_elsewhere(fill, context)
        return not is_completed and (is_word_character(last) or last in _ENDS_VALUE)
    return is_word_character(last)


_LAST_WORD, _FIRST_WORD = re.compile(r"\w+\Z"), re.compile(r"\w+")


def completes_cut_word(fill: str, context: CleaningContext) -> bool:
    """Whether the fill's last word goes on in the rest, where a user has deleted half of it.

    Then the model wrote the whole word, or the file has it elsewhere, and its second half nowhere.

    price * ├item.qua┤ntity   →   yes, where the file has quantity elsewhere
    """
    begun, ended = _LAST_WORD.search(fill), _FIRST_WORD.match(context.rest)
    if begun is None or ended is None or context.hole.kind != "line":
        return False
    if begun.start() == 0 and is_word_character(context.line_before[-1:]):
        return False
    whole = rf"(?<!\w){re.escape(begun[0] + ended[0])}(?!\w)"
    if re.search(whole, context.written):
        return True
    has_whole = re.search(whole, context.text)
    pieces = re.finditer(rf"(?<!\w){re.escape(ended[0])}(?!\w)", context.text)
    return has_whole is not None and all(it.start() == context.hole.end for it in pieces)


_WORD = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)*")
_CODE_MARK = re.compile(r"[(){}=;<>]")


_CALLABLE = re.compile(
    r"\b(?!(?:catch|else|else?if|elsif|for|foreach|if|return|switch|unless|until|when|while|with)\Z)"
    r"\w+\Z"
)
_BEFORE_INDEX, _BEFORE_VALUE = re.compile(r"[\w)\]]\Z"), re.compile(r"[=(,:?\[][ \t]*\Z")


def _joins_values(fill: str, context: CleaningContext) -> bool:
    """Whether the fill ends a call, an index, a string or a sentence right before a word or string.

    f(├a)┤b, ["a", ├"b"┤"c", # ├It ends here.┤go
    """
    written, rest, last = context.line_before + fill, context.rest[:1], fill[-1:]
    is_markup = context.language.takes_any_text
    if last in _QUOTES and (rest == last or is_word_character(rest)):
        is_closed = open_quote(written) is None and written.count(last) % 2 == 0
        return rest.isascii() and is_closed and not is_markup
    if not rest.isalpha() or not rest.isascii():
        return False
    is_sentence = last in (".", "!", "?") and fill.strip().count(" ") > 1
    is_sentence = is_sentence and _WORD.fullmatch(fill.rpartition(" ")[2][:-1]) is not None
    if is_sentence and not _CODE_MARK.search(fill):
        return is_markup or context.syntax is None or _in_prose(context)
    if last not in CLOSERS or is_markup or context.is_in_string:
        return False
    opener = opener_of(written, len(written) - 1)
    if opener is None:
        return False
    is_index = last == "]" and _BEFORE_INDEX.search(written, 0, opener)
    is_value = last != ")" and _BEFORE_VALUE.search(written, 0, opener)
    return bool(is_index or is_value or (last == ")" and _CALLABLE.search(written, 0, opener)))


def is_in_whole_word(context: CleaningContext) -> bool:
    """Whether the cursor is inside a word that the file has elsewhere too."""
    is_inside = is_word_character(context.line_before[-1:]) and is_word_character(context.rest[:1])
    return is_inside and is_elsewhere("", context)


@lru_cache(maxsize=16)  # several filters ask about the same fill
def is_elsewhere(fill: str, context: CleaningContext) -> bool:
    """Whether the file has the word around the cursor with this fill at another place too."""
    text, (first, last) = context.text, (context.hole.start, context.hole.end)
    while first > 0 and is_word_character(text[first - 1]):
        first -= 1
    while last < len(text) and is_word_character(text[last]):
        last += 1
    word = re.escape(text[first : context.hole.start] + fill + text[context.hole.end : last])
    found = re.finditer(rf"{word}(?<!\w{word})(?!\w)", text)
    return any(each.start() != first for each in found)


def ends_with_header(fill: str, context: CleaningContext) -> bool:
    """Whether the last line is the header of a block, whose body is missing."""
    header = context.language.header
    last_line = (context.line_before + fill).rsplit("\n", 1)[-1].rstrip()
    return bool(header and re.search(header, last_line))


def balance_with(fill: str, context: CleaningContext) -> Balance:
    """Match the brackets around the hole, or of Lisp's form; the offsets mean nothing."""
    fill, after = fill + context.rest, "\n".join(("", *context.following))
    if context.form_above is not None:
        form = fill + after.partition("\n(")[0]
        return balance_of(context.form_above + form.replace("'", " "))
    code = context.line_before + fill + after
    return balance_of(context.brackets_above + _LIST_ITEM.sub(r"\1 ", code))


_KEY = re.compile(r"(?P<lead>[ -]*)[\w.\"'/-]+:(?:[ \t]+(?P<value>[^\s|>&!#].*))?$")


def _has_value_twice(fill: str, context: CleaningContext) -> bool:
    """Whether a key of YAML gets a value though the entries below it are its value."""
    key, language = _KEY.match(context.line_before + fill), context.language
    is_free_form = language.block_style == "indent" and language.takes_any_text
    if key is None or not key["value"] or not is_free_form or not context.is_line_empty:
        return False
    below = "".join(context.following[:1])
    is_entry = below.lstrip().startswith("- ") or _KEY.match(below)
    return columns(below) > len(key["lead"]) and bool(is_entry)


def num_unbalanced(balance: Balance) -> int:
    """Count the brackets without a partner."""
    return len(balance.unmatched) + len(balance.unclosed)


_LONG_QUOTES = ('"""', "'''")


def leaves_quote_open(fill: str, context: CleaningContext) -> bool:
    """Whether a quote is open at the end of the fill's last line that was not open before.

    In remarks and in Lisp a single quote needs no partner; without a grammar both are recognized by
    how the line begins.
    """
    last_line = (context.line_before + fill).rsplit("\n", 1)[-1] + context.rest
    quote, counted = open_quote(last_line), _QUOTES
    if quote is None:
        return False
    if context.syntax is None:
        is_list = last_line.lstrip().startswith("(") or context.form_above is not None
        counted = ('"',) if is_list else () if REMARK.match(last_line) else (*_QUOTES, "`")
        others = (*context.above, *context.following)
        if quote == "`" and any(line.count(quote) % 2 for line in others):
            return False  # it is a sign of its own: `Tag, `n
    elif quote not in context.language.ends:
        counted += _LONG_QUOTES
    return quote in counted and not context.is_quote_open


SAMPLE_FILLS = ("x", "0")

MAX_SHORTER = 8
LEAST_CHARS = 4
"""The rest of a shortened line has at least this many characters that are no blanks."""

CALLED = re.compile(r"\w[\w.]*(?=\()")
"""A name that the rest of the line may call."""


def is_no_worse(fill: str, context: CleaningContext) -> bool:
    """Whether the file with the fill has no more errors than are allowed."""
    errors = errors_with(fill, context)
    return errors == 0 or errors <= _errors_allowed(context)


@lru_cache(maxsize=16)  # several filters ask about the same fill
def errors_with(fill: str, context: CleaningContext) -> int:
    """Count the errors of the file with the fill in its hole; 0 if the file cannot be parsed.

    Once the time for that is over, every fill has the most errors.
    """
    if context.syntax is None:
        return 0
    if context.parsing_time.is_over:
        return MAX_ERRORS
    hole = context.hole
    with context.parsing_time.spent():
        return num_errors_with(context.syntax, hole.start, hole.end, fill)


@lru_cache(maxsize=4)
def _errors_allowed(context: CleaningContext) -> int:
    """Return how many errors the file may have with a fill: those that are not due to the hole.

    An unfinished line may have an error that any word would repair; it does not count. In code that
    is broken elsewhere, or full of macros, error counts are rough: there some more are allowed.
    """
    if context.syntax is None:
        return 0
    errors = num_errors(context.syntax)
    if errors:
        errors = min(errors, *(errors_with(sample, context) for sample in SAMPLE_FILLS))
    is_rough = errors > 0 or context.language.has_macros
    return errors + 1 + errors // 4 if is_rough else 0


@lru_cache(maxsize=16)  # it is shortened or rejected
def why_broken(fill: str, context: CleaningContext) -> str | None:
    """Return what a fill would break, in words for users; None if it fits into the file.

    A line may leave brackets, a statement or a block open that the next lines can close, if it is
    not written before them. Where the parser finds no error, its word counts; elsewhere the marks
    around the hole are looked at.
    """
    hole, rest = context.hole, context.rest.strip()
    if hole.is_inserted and ends_with_header(fill, context):
        return "a block would have no body"
    if _has_value_twice(fill, context):
        return "the code would not parse"
    if context.syntax is None:
        return why_it_does_not_fit(fill, context)
    if hole.kind != "span" and hole.start == hole.end and joins_words(fill, context):
        return WORDS_JOINED  # but a span may be chosen to end within a word
    is_closed_twice = rest and _in_prose(context) and num_closed_twice(fill, context)
    is_raw = context.language.takes_any_text or context.is_in_macro
    do_marks_decide = is_closed_twice or (rest and is_raw)
    ends = partial(_possible_ends, fill, context)
    if not do_marks_decide and any(_makes_it_whole(fill, end, context) for end in ends()):
        return None
    found = why_it_does_not_fit(fill, context, may_go_on=not rest and not hole.is_inserted)
    if found is None and not any(is_no_worse(fill + end, context) for end in ends()):
        return f"{'what follows the cursor' if rest else 'the code'} would not parse"
    return found


def _in_prose(context: CleaningContext) -> bool:
    return not is_code(context.syntax, max(0, context.hole.start - 1))


def _makes_it_whole(fill: str, end: str, context: CleaningContext) -> bool:
    """Whether the fill and what may follow it parse without an error.

    Some grammars let a string of one line go on below, up to a quote of what follows it.
    """
    if context.syntax is None or errors_with(fill + end, context) != 0:
        return False
    if not leaves_quote_open(fill, context):
        return True
    hole = context.hole
    syntax = parse_edited(context.syntax, hole.start, hole.end, fill + end)
    return not is_inside_string(syntax, hole.start + len(fill))


def shorten_or_reject(fill: str, context: CleaningContext) -> str | NoSuggestion:
    """End a broken last line at the last comma, call or clause with which it fits; else reject it.

    It is broken where the most tokens of a hole were written before its end.

    x = ├["href", "title", "cla┤   →   x = ├["href", "title"]┤
    """
    reason = why_broken(fill, context)
    if reason is None:
        return fill
    is_remark = _in_prose(context) or REMARK.match(context.line_before) is not None
    no_part_fits = reason == WORDS_JOINED and (is_remark or fill.endswith(";"))
    if not (context.hole.is_inserted or no_part_fits) and (shorter := _shorter(fill, context)):
        return shorter
    if context.parsing_time.is_over:
        return NoSuggestion(reason="the file takes too long to parse")
    return NoSuggestion(reason=reason, kind="broken")


def _shorter(fill: str, context: CleaningContext) -> str | None:
    for end in chain(islice(_clause_ends(fill), MAX_SHORTER), _ends_by_rest(fill, context.rest)):
        shorter = fill[:end].rstrip()
        if context.parsing_time.is_over:
            break
        if sum(not char.isspace() for char in shorter) < LEAST_CHARS:
            break
        closers = "".join(PAIRS[shorter[at]] for at in reversed(balance_of(shorter).unclosed))
        for whole in dict.fromkeys((shorter + closers, shorter)):
            if why_broken(whole, context) is None:
                return whole
    return None


def _ends_by_rest(fill: str, rest: str) -> Iterator[int]:
    """Yield where a fill ends that goes on with the bracket of the rest."""
    if rest.startswith("(") and (called := CALLED.match(fill)):
        yield called.end()
    if fill.endswith(" {") and rest.rstrip().endswith("{"):
        yield len(fill) - 1


_CLAUSE_END = re.compile(r"[,;)\]}]|\s(?:and|or|&&|\|\||if|else|for|where)\s")


def _clause_ends(fill: str) -> Iterator[int]:
    """Yield where a clause of the last line ends, the last one first."""
    start = fill.rfind("\n") + 1
    for mark in reversed(list(_CLAUSE_END.finditer(fill, start))):
        end = mark.end() if mark.group() in ")]}" else mark.start()
        if start < end < len(fill):
            yield end


def _possible_ends(fill: str, context: CleaningContext) -> Iterator[str]:
    yield ""  # most fills need nothing
    if context.hole.kind != "line" or context.hole.is_inserted or context.rest.strip():
        return
    if _in_prose(context) and context.syntax is not None and not num_errors(context.syntax):
        return  # the text is closed: an end would begin another one
    closers = "".join(PAIRS[fill[offset]] for offset in reversed(balance_of(fill).unclosed))
    indent = leading_blank(context.line_before + fill)
    yield from (closers, closers + ";", *(f"\n{indent}{end}" for end in context.language.ends))


MAX_CANDIDATES = 16
"""The most tries: each parses the file."""


def balance_brackets(fill: str, context: CleaningContext) -> str:
    """Return the fill with other closing brackets, if the file then has fewer errors.

    Without a grammar these are the brackets that have no partner.
    """
    balance = balance_of(fill)
    if not num_unbalanced(balance) or context.is_in_string:
        return fill
    candidates = _without_unmatched(fill, balance)
    if context.hole.kind != "line":
        candidates += _with_blocks_closed(fill, balance)
    elif context.rest.strip():  # at a line end the next line may close them
        candidates += _with_line_closed(fill, balance)
    candidates = [fill, *candidates[:MAX_CANDIDATES]]
    if context.syntax is None or context.is_in_macro:
        return min(candidates, key=lambda kept: num_unbalanced(balance_with(kept, context)))
    return min(candidates, key=lambda kept: errors_with(kept, context))


def _without_unmatched(fill: str, balance: Balance) -> list[str]:
    """Return the fill without one, two, … of the unmatched closing brackets at its end.

    A ``;`` or ``,`` after them is tried with and without.
    """
    candidates: list[str] = []
    kept, tail = fill, ""
    for offset in islice(reversed(balance.unmatched), MAX_CANDIDATES):
        after = kept[offset + 1 :].strip()
        if after.strip(";,"):
            break
        kept, tail = kept[:offset].rstrip(), after + tail
        candidates += [kept + tail, kept] if kept else [""]
    return candidates


def _with_line_closed(fill: str, balance: Balance) -> list[str]:
    """Return the fill with its innermost one, two, … open brackets closed.

    The rest of the line may close the others.
    """
    innermost = islice(reversed(balance.unclosed), MAX_CANDIDATES)
    closers = "".join(PAIRS[fill[offset]] for offset in innermost)
    return [fill.rstrip() + closers[:count] for count in range(1, len(closers) + 1)]


def _with_blocks_closed(fill: str, balance: Balance) -> list[str]:
    """Return the fill with every open bracket that ends a line closed on a line of its own."""
    kept = fill.rstrip()
    closers = []
    for offset in reversed(balance.unclosed):
        is_at_line_end = kept[offset + 1 :].split("\n", 1)[0].strip() == ""
        if not is_at_line_end or offset + 1 >= len(kept) or "\n" not in fill[:offset]:
            return []
        line = fill[fill.rindex("\n", 0, offset) + 1 : offset]
        closers.append("\n" + leading_blank(line) + PAIRS[fill[offset]])
    return [kept + "".join(closers)] if closers else []
