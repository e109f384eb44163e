"""Checks without a parser what a fill does to the text around it: words, quotes and brackets.

They hold for every language, and where the parser does not know the file well.
"""

import re

from intarsia.infill.holes.token_healing import is_word_character
from intarsia.infill.postprocess.context import CleaningContext
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.brackets import Balance, balance_of
from intarsia.infill.syntax.quotes import open_quote

MAX_CHARS_BALANCED = 1_500
"""How much text before and after the hole is balanced with the fill."""

_LIST_ITEM = re.compile(r"(?m)^(\s*\w{1,3})\)")


def why_it_does_not_fit(
    fill: str, context: CleaningContext, *, may_go_on: bool = False
) -> str | None:
    """Return what a fill would break, in words for users; None if it fits.

    ``may_go_on``: a later line may close the brackets that the fill leaves open.
    """
    if context.hole.start < context.hole.end:
        return None  # what is replaced may have held marks of its own
    if joins_words(fill, context):
        return "two words would be joined"
    if _leaves_quote_open(fill, context):
        return "a quote would be left open"
    with_fill, without = balance_with(fill, context), balance_with("", context)
    if len(with_fill.unmatched) > len(without.unmatched):
        return "a bracket would be closed that is not open"
    if not may_go_on and num_unbalanced(with_fill) > num_unbalanced(without):
        return "a bracket would be left open"
    return None


def joins_words(fill: str, context: CleaningContext) -> bool:
    """Whether the fill runs into the word behind the cursor."""
    rest = context.rest[:1]
    if not rest.isascii() or not is_word_character(rest or " "):  # some scripts have no blanks
        return False
    is_in_word = is_word_character(context.line_before[-1:] or " ")
    return not is_in_word and is_word_character(fill[-1:] or " ")


def reject_longer_word(fill: str, context: CleaningContext) -> str | NoSuggestion:
    """Reject a fill that lengthens a word which is not given to it: the user has chosen that."""
    is_whole = context.hole.given_start == context.hole.start
    is_in_word = is_word_character(context.line_before[-1:] or " ")
    if is_whole and is_in_word and is_word_character(fill[:1] or " "):
        return NoSuggestion(reason="the word chosen in the menu would become longer")
    return fill


def balance_with(fill: str, context: CleaningContext) -> Balance:
    """Match the brackets from a little before the hole to a little after it."""
    after = "\n".join(("", *context.following))[:MAX_CHARS_BALANCED]
    code = context.before[-MAX_CHARS_BALANCED:] + fill + context.rest + after
    return balance_of(_LIST_ITEM.sub(r"\1 ", code))


def num_unbalanced(balance: Balance) -> int:
    """Count the brackets without a partner."""
    return len(balance.unmatched) + len(balance.unclosed)


def _leaves_quote_open(fill: str, context: CleaningContext) -> bool:
    """Whether a quote is open at the end of the fill's last line that was not open before."""
    without = open_quote(context.line_before + context.rest)
    last_line = (context.line_before + fill).rsplit("\n", 1)[-1] + context.rest
    quote = open_quote(last_line)
    return without is None and quote in ('"', "'")
