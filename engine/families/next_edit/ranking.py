"""The order in which lines are corrected: by their drop, and by the words they share with the edit.

A line that holds a name which the edit removed, or that resembles the edited lines, is likelier to
follow the edit than another with the same drop. The four terms weigh the same: fitted on 160
commits of repositories outside the evaluation sets, all weights came out between 1.4 and 1.6.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.engine.families.next_edit.code_lines import lines_of
from intarsia.engine.families.next_edit.line_drop import MIN_DROP, LineDrop
from intarsia.engine.ipc.messages import EditExample

_WORD = re.compile(r"\w+")


def best_first(
    drops: Sequence[LineDrop], window: bytes, example: EditExample
) -> Sequence[LineDrop]:
    """Return the lines of a window, those first that are likeliest to follow the edit.

    Lines with a drop too small for a correction come last. ``window``: the text after the edit.
    """
    words = _edited_words(example)

    def order(found: LineDrop) -> tuple[bool, float]:
        line = window[found.line.start : found.line.end].decode("utf-8", "replace")
        likelihood = math.log1p(found.drop) + math.log1p(max(0.0, found.net_drop))
        return found.drop >= MIN_DROP, likelihood + words.likeness(line)

    return sorted(drops, key=order, reverse=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class _EditedWords:
    """The words of the edited lines, and those that are no more in them."""

    edited: frozenset[str]
    removed: frozenset[str]

    def likeness(self, line: str) -> float:
        """Return 1 for a removed word, and the share of words in common, from 0 to 1."""
        words = _words(line)
        in_common = len(words & self.edited) / max(1, len(words | self.edited))
        return (not words.isdisjoint(self.removed)) + in_common


def _edited_words(example: EditExample) -> _EditedWords:
    """Return the words of the lines that the edit replaced; of the new ones if it only added."""
    before, after = lines_of(example.before), lines_of(example.after)
    replaced = "".join(line for line in before if line not in after)
    added = "".join(line for line in after if line not in before)
    removed = _words(replaced) - _words(added)
    return _EditedWords(edited=_words(replaced) or _words(added), removed=removed)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text))
