"""A suggestion: cleaned text and the range that it replaces, or the reason why there is none."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Suggestion:
    """``text`` replaces ``source[start:end]``."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NoSuggestion:
    """Why nothing is suggested, in plain words for a log or a status line."""

    reason: str
