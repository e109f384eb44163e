"""The result of a fill: text and the range that it replaces, or the reason why there is none."""

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
