"""Balances the brackets of a fill, and rejects one that adds parse errors to its file.

foo(├a)┤)   →   foo(├a┤)
x = ├[f(a┤ + 1)   →   x = ├[f(a)]┤ + 1
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from intarsia.infill.postprocess.context import (
    WORDS_JOINED,
    CleaningContext,
    balance_with,
    ends_with_header,
    leaves_quote_open,
    num_unbalanced,
    why_it_does_not_fit,
)
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.brackets import PAIRS, Balance, balance_of
from intarsia.infill.syntax.lines import leading_blank
from intarsia.infill.syntax.nodes import MAX_ERRORS, is_inside_string, is_stray, num_errors
from intarsia.infill.syntax.parse import parse_edited

SAMPLE_FILLS = ("x", "0")

MAX_SHORTER = 8
LEAST_CHARS = 4
"""What is left of a shortened line has at least this many characters that are no blanks."""

_CLAUSE_END = re.compile(r"[,;)\]}]|\s(?:and|or|&&|\|\||if|else|for|where)\s")


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
        syntax = parse_edited(context.syntax, hole.start, hole.end, fill)
        if syntax is None:
            return MAX_ERRORS
        last = hole.start + len(fill.rstrip()) - 1
        return num_errors(syntax) or int(is_stray(syntax, max(hole.start, last)))


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


def why_broken(fill: str, context: CleaningContext) -> str | None:
    """Return what a fill would break, in words for users; None if it fits into the file.

    A line may leave brackets, a statement or a block open that the next lines can close, if it is
    not written before them. Where the parser finds no error, its word counts; elsewhere the marks
    around the hole are looked at.
    """
    ends, rest = _possible_ends(fill, context), context.rest.strip()
    if context.hole.is_inserted and ends_with_header(fill, context):
        return "a block would have no body"
    is_parsed = context.syntax is not None
    may_go_on = is_parsed and not rest and not context.hole.is_inserted
    found = why_it_does_not_fit(fill, context, may_go_on=may_go_on)
    if not is_parsed or (found == WORDS_JOINED and context.hole.kind != "span"):
        return found  # but a span may be chosen to end within a word
    if not any(is_no_worse(fill + end, context) for end in ends):
        return found or f"{'what follows the cursor' if rest else 'the code'} would not parse"
    if rest and context.language.takes_any_text:
        return found
    return None if any(_makes_it_whole(fill, end, context) for end in ends) else found


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


def shorten_broken_line(fill: str, context: CleaningContext) -> str:
    """End a broken last line at the last comma, call or clause with which it fits.

    It is broken where the most tokens of a hole were written before its end.

    x = ├["href", "title", "cla┤   →   x = ├["href", "title"]┤
    """
    if context.hole.is_inserted or why_broken(fill, context) is None:
        return fill
    for end in islice(_clause_ends(fill), MAX_SHORTER):
        shorter = fill[:end].rstrip()
        if context.parsing_time.is_over:
            break
        if sum(not char.isspace() for char in shorter) < LEAST_CHARS:
            break
        closers = "".join(PAIRS[shorter[at]] for at in reversed(balance_of(shorter).unclosed))
        for whole in dict.fromkeys((shorter + closers, shorter)):
            if why_broken(whole, context) is None:
                return whole
    return fill


def _clause_ends(fill: str) -> Iterator[int]:
    """Yield where a clause of the last line ends, the last one first."""
    start = fill.rfind("\n") + 1
    for mark in reversed(list(_CLAUSE_END.finditer(fill, start))):
        end = mark.end() if mark.group() in ")]}" else mark.start()
        if start < end < len(fill):
            yield end


def reject_broken(fill: str, context: CleaningContext) -> str | NoSuggestion:
    """Reject a fill that would break the file."""
    reason = why_broken(fill, context)
    if reason is None:
        return fill
    if context.parsing_time.is_over:
        return NoSuggestion(reason="the file takes too long to parse")
    return NoSuggestion(reason=reason, kind="broken")


def _possible_ends(fill: str, context: CleaningContext) -> list[str]:
    if context.hole.kind != "line" or context.hole.is_inserted or context.rest.strip():
        return [""]
    closers = "".join(PAIRS[fill[offset]] for offset in reversed(balance_of(fill).unclosed))
    indent = leading_blank(context.line_before + fill)
    ends = [f"\n{indent}{end}" for end in context.language.ends]
    return list(dict.fromkeys(["", closers, closers + ";", *ends]))


MAX_CANDIDATES = 16
"""Each takes a parse of the file."""


def balance_brackets(fill: str, context: CleaningContext) -> str:
    """Return the fill with other closing brackets, if the file then has fewer errors.

    Without a grammar these are the brackets that have no partner.
    """
    balance = balance_of(fill)
    if context.is_in_string or balance == balance_of(""):
        return fill
    candidates = _without_unmatched(fill, balance)
    if context.hole.kind != "line":
        candidates += _with_blocks_closed(fill, balance)
    elif context.rest.strip():  # at a line end the next line may close them
        candidates += _with_line_closed(fill, balance)
    candidates = [fill, *candidates[:MAX_CANDIDATES]]
    if context.syntax is None:
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
