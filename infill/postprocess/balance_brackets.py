"""Drops closing brackets that the file already has, and adds those that the fill left out.

foo(├a)┤)   →   foo(├a┤)
x = ├[f(a┤ + 1)   →   x = ├[f(a)]┤ + 1
"""

from itertools import islice

from intarsia.infill.postprocess.context import CleaningContext, balance_with, num_unbalanced
from intarsia.infill.postprocess.parse_errors import errors_with
from intarsia.infill.syntax.brackets import PAIRS, Balance, balance_of
from intarsia.infill.syntax.lines import leading_blank

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
