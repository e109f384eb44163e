"""Ends a fill at the mark that closes behind the cursor: a quote, a tag, a template's mark.

"├Delete",┤"           →   "├Delete┤"
{{ ├user.name }}, ┤ }}   →   {{ ├user.name┤ }}
"""

import re

from intarsia.infill.postprocess.context import CleaningContext
from intarsia.infill.syntax.quotes import closing_quote, open_quote

_OPENERS = {"}}": "{{", "%}": "{%", "#}": "{#", "%>": "<%", "?>": "<?", "-->": "<!--", "*/": "/*"}
_MARK = re.compile(r"\s*(?:(?P<mark>\}\}|[%#]\}|[%?]>|-->|\*/)|(?P<tag></[\w:.-]*))")
_END_OF_TAG = re.compile(r"\s*/?>")
_IN_TAG = re.compile(r"<[A-Za-z][^<>]{0,400}$")


def cut_at_closing_mark(fill: str, context: CleaningContext) -> str:
    """Cut at the first mark that the text behind the cursor closes already."""
    end = _end_by_quote(fill, context)
    if end is None:
        end = _end_by_mark(fill, context)
    return fill if end is None else fill[:end]


def quote_around(context: CleaningContext) -> str | None:
    """Return the quote in which the hole is and which closes on the hole's line, if there is one.

    Where the parser sees no string, only a quote right behind the cursor counts: unfinished code
    may hide it from the parser.
    """
    quote = open_quote(context.line_before)
    if quote is None:
        return None
    closes_at = closing_quote(context.rest, 0, quote)
    if closes_at is None or context.rest[closes_at + len(quote) :][:1].isalnum():
        return None
    is_known = context.syntax is None or context.is_in_string or closes_at == 0
    return quote if is_known else None


def _end_by_quote(fill: str, context: CleaningContext) -> int | None:
    quote = quote_around(context)
    if quote is None:
        return None
    return closing_quote(fill, 0, quote)


def _end_by_mark(fill: str, context: CleaningContext) -> int | None:
    found = _MARK.match(context.rest)
    if found is None:
        is_in_tag = _END_OF_TAG.match(context.rest) and _IN_TAG.search(context.line_before)
        end = _end_of_tag(fill) if is_in_tag else None
        return None if end is None else len(fill[:end].rstrip(" \t"))
    closer = found["mark"] or found["tag"]
    opener = _OPENERS.get(closer, "<" + closer[2:])
    at = fill.find(closer)
    if at < 0 or not _is_open(context.line_before, opener, closer) or opener in fill[:at]:
        return None
    return len(fill[:at].rstrip(" \t")) if context.rest[:1].isspace() else at


def _is_open(before: str, opener: str, closer: str) -> bool:
    """Whether the mark that closes behind the cursor was opened on its line or above it."""
    return opener not in before or before.rfind(opener) > before.rfind(closer)


def _end_of_tag(fill: str) -> int | None:
    """Return where the tag ends that the fill goes on with; an arrow ends none."""
    end = re.search(r"(?<![=-])/?>", fill)
    return end.start() if end and "<" not in fill[: end.start()] else None
