"""The drop of a line: how much less likely its unlikeliest token became by an edit."""

from collections.abc import Iterable
from dataclasses import dataclass

from intarsia.engine.families.next_edit.edited_lines import WindowLine

MIN_DROP = 1.0
"""Nats: the loss of a line that is worth a correction. Its exact value hardly matters."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LineDrop:
    """A line, and the largest loss of log-probability of one of its tokens, in nats."""

    line: WindowLine
    drop: float


def largest_drops(tokens: Iterable[tuple[WindowLine, float]]) -> list[LineDrop]:
    """Return the lines of tokens by their largest loss, if that is above 0, the largest first."""
    drops: dict[int, LineDrop] = {}
    for line, drop in tokens:
        if drop > 0 and (line.number not in drops or drop > drops[line.number].drop):
            drops[line.number] = LineDrop(line=line, drop=drop)
    return sorted(drops.values(), key=lambda found: -found.drop)
