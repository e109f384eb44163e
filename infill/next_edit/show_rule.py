"""Decides which corrections are worth showing, by how much likelier they make the text.

A likelier line is no reason: odd lines can always be made likelier. What counts is the *double
difference*, the part of the gain that is due to the user's edit.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from intarsia.engine.ipc.messages import NextEdit

Level: TypeAlias = Literal["sure", "balanced", "bold"]
"""How sure an offer is. Each level has the offers of those before it too."""

LEVELS: Mapping[Level, int] = {"sure": 0, "balanced": 1, "bold": 2}
"""The levels and their order, the surest first."""


MIN_GAIN = 0.0
BOLD_DOUBLE_DIFFERENCE = 4.0
BALANCED_DOUBLE_DIFFERENCE = 7.0
BALANCED_LOG_P = -2.0
SURE_LOG_P = -1.0
"""Numbers above which a correction is shown, in nats; ``SURE_LOG_P`` holds without agreement."""


def double_difference(edit: NextEdit) -> float:
    """Return the part of the gain that is due to the user's edit, in nats."""
    return edit.gain - edit.gain_before


def level_of(edit: NextEdit, *, is_deletion: bool) -> Level | None:
    """Return the surest level that shows a correction, None if none does.

    ``is_deletion``: it only removes lines. NaN passes no threshold.
    """
    difference = double_difference(edit)
    if not (edit.gain > MIN_GAIN and difference > BOLD_DOUBLE_DIFFERENCE):
        return None
    is_likely = edit.log_p > BALANCED_LOG_P
    is_balanced = difference > BALANCED_DOUBLE_DIFFERENCE and is_likely
    if is_deletion or not is_balanced:
        return "bold"
    return "sure" if edit.is_agreed or edit.log_p > SURE_LOG_P else "balanced"


def is_shown(level: Level, least: Level) -> bool:
    """Whether an offer of this level is among those of the level that the user has chosen."""
    return LEVELS[level] <= LEVELS[least]
