"""The drop of a line: how much less likely its unlikeliest token became by an edit."""

from collections.abc import Iterable
from dataclasses import dataclass

from intarsia.engine.families.next_edit.edited_lines import WindowLine

MIN_DROP = 1.0
"""Nats: the loss of a line that is worth a correction. Its exact value hardly matters."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LineDrop:
    """A line, and the log-probability that its tokens lost, in nats."""

    line: WindowLine
    drop: float  # the largest loss of one token
    net_drop: float  # of all tokens that were scored: losses less gains


def largest_drops(tokens: Iterable[tuple[WindowLine, float]]) -> list[LineDrop]:
    """Return the lines of tokens by their largest loss, if that is above 0, the largest first."""
    losses: dict[int, list[float]] = {}
    lines: dict[int, WindowLine] = {}
    for line, loss in tokens:
        losses.setdefault(line.number, []).append(loss)
        lines[line.number] = line
    found = [
        LineDrop(line=lines[number], drop=max(own), net_drop=sum(own))
        for number, own in losses.items()
        if max(own) > 0
    ]
    return sorted(found, key=lambda it: -it.drop)
