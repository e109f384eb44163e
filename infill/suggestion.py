"""The result of a fill: text and the range that it replaces, or the reason why there is none.

A suggestion may replace text around the cursor; ``inserted_at_cursor`` reduces it to an insertion,
the only change that an editor can show as ghost text.
"""

from collections.abc import Sequence
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


@dataclass(frozen=True, slots=True)
class ConfidentToken:
    """One token's part of a text; ``confidence`` is from 0 to 1, None where it is not known."""

    text: str
    confidence: float | None


def without_start(tokens: Sequence[ConfidentToken], length: int) -> tuple[ConfidentToken, ...]:
    """Return the tokens without their first ``length`` characters."""
    left = []
    for token in tokens:
        if rest := token.text[length:]:
            left.append(ConfidentToken(rest, token.confidence))
        length = max(0, length - len(token.text))
    return tuple(left)


def without_end(tokens: Sequence[ConfidentToken], length: int) -> tuple[ConfidentToken, ...]:
    """Return the tokens of the first ``length`` characters."""
    kept = []
    for token in tokens:
        if text := token.text[:length]:
            kept.append(ConfidentToken(text, token.confidence))
        length -= len(text)
    return tuple(kept)


def sure_start(tokens: Sequence[ConfidentToken], least: float) -> str:
    """Return the text before the first token that is not known to have this confidence.

    Blanks at its end are left out: accepted alone, they would stay in the file as trailing space.
    """
    is_sure = [token.confidence is not None and token.confidence >= least for token in tokens]
    first = None if all(is_sure) else is_sure.index(False)
    text = "".join(token.text for token in tokens[:first])
    return text if first is None else text.rstrip()
