"""The result of a fill: text and the range that it replaces, or the reason why there is none.

A suggestion may replace text around the cursor; ``inserted_at_cursor`` reduces it to an insertion,
the only change that an editor can show as ghost text.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Suggestion:
    """``text`` replaces ``source[start:end]``."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NoSuggestion:
    """Why nothing is suggested, in plain words for a log or a status line.

    ``kind`` is the same for reasons that are counted together.
    """

    reason: str
    kind: str = "other"


def inserted_at_cursor(suggestion: Suggestion, source: str, cursor: int) -> str | NoSuggestion:
    """Return the text to insert at the cursor of ``source``, or why it is not an insertion."""
    if not suggestion.start <= cursor <= suggestion.end:
        return NoSuggestion(reason="the suggestion is not at the cursor")
    left, right = source[suggestion.start : cursor], source[cursor : suggestion.end]
    if not suggestion.text.startswith(left):
        return NoSuggestion(reason="the suggestion would change text left of the cursor")
    text = suggestion.text.removeprefix(left)
    if not text.endswith(right):
        return NoSuggestion(reason="the suggestion would change text right of the cursor")
    text = text.removesuffix(right)
    return text if text.strip() else NoSuggestion(reason="the suggestion adds nothing")
