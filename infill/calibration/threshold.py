"""How probable it must be that a user keeps a text before it is shown: a level, or a percentage."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias, get_args

from msgspec import Meta

from intarsia.infill.suggestion import NoSuggestion

Level: TypeAlias = Literal["eager", "balanced", "subtle"]

LEVELS: Mapping[Level, int] = {"eager": 20, "balanced": 50, "subtle": 80}
"""The percentage of each level."""

_PATTERN = rf"^({'|'.join(get_args(Level))}|100|[1-9]?[0-9])$"

Threshold: TypeAlias = Annotated[str, Meta(pattern=_PATTERN)] | Annotated[int, Meta(ge=0, le=100)]
"""A level or a percentage. Editors with one type for each setting send a string."""

ABOUT_THRESHOLD = (
    "How probable it must be that you keep a suggestion, for it to be shown while you type: "
    + ", ".join(f'"{level}" ({percent} %)' for level, percent in LEVELS.items())
    + ", or a percentage from 0 (everything) to 100. Of a longer one, the part that is probable "
    "enough is shown. When requested by a command, everything is shown."
)

IMPROBABLE = "improbable"
"""The kind of reason that is counted for a text below the threshold."""


def percent_of(threshold: Threshold) -> int:
    """Return the percentage that a threshold means. Raise ValueError where it is none."""
    for level, percent in LEVELS.items():
        if threshold == level:
            return percent
    if not re.fullmatch(_PATTERN.strip("^$"), str(threshold)):
        raise ValueError(f"neither a level nor a percentage from 0 to 100: {threshold!r}")
    return int(threshold)


def improbable(probability: float | None, percent: int) -> NoSuggestion:
    """Return the reason why a text is not shown; ``probability`` is from 0 to 1."""
    found = "unknown" if probability is None else f"{100 * probability:.0f} %"
    return NoSuggestion(
        reason=f"the text would probably not be kept: {found}, and showThreshold is {percent} %",
        kind=IMPROBABLE,
    )
