"""How an offer differs from the lines that it replaces, for clients to draw.

Where lines pair up, they are compared token by token. Otherwise the new lines are a block of their
own. Offsets count from the start of the replaced lines.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import accumulate

from intarsia.infill.syntax.text import leading_blank

MIN_ALIKE = 0.35
"""The share of the longer line that both must have; otherwise a line is replaced as a whole."""

MAX_PAIRS = 40_000
"""A line with more tokens is replaced as a whole."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """``removed`` are ranges; each text of ``added`` comes right after what it replaces, if any.

    ``block``: new lines, without line ends, that have no old line of their own.
    """

    removed: Sequence[tuple[int, int]] = ()
    added: Sequence[tuple[int, str]] = ()
    block: Sequence[str] = ()


@lru_cache(maxsize=256)  # all offers are sent again after each change of the text
def difference(before: str, after: str) -> Difference:
    """Return how to draw that whole lines take the place of others."""
    old, new = _lines(before), _lines(after)
    if len(old) != len(new):
        struck = [(at + len(leading_blank(it)), at + len(it)) for at, it in old if it.strip()]
        # A line below a last one without line end has its own line end in front.
        is_below = not before and after[:1] in ("\r", "\n") and after[-1:] not in ("\r", "\n")
        return Difference(removed=struck, block=[line for _, line in new][is_below:])
    removed: list[tuple[int, int]] = []
    added: list[tuple[int, str]] = []
    for (at, line), (_, other) in zip(old, new, strict=True):
        for start, end, text in _changes(line, other):
            removed += [(at + start, at + end)] if start < end else []
            added += [(at + end, text)] if text else []
    return Difference(removed=removed, added=added)


def _lines(text: str) -> list[tuple[int, str]]:
    """Return where each line starts, and the line; a line end at the end begins no further one."""
    return [(match.start(), match[0].rstrip("\r\n")) for match in _LINE.finditer(text)]


def _changes(before: str, after: str) -> Iterator[tuple[int, int, str]]:
    """Yield ranges of a line, and what replaces them: tokens, or all but the indentation."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    codes: Sequence[tuple[str, int, int, int, int]] = ()
    if len(old) * len(new) <= MAX_PAIRS:
        codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    same = "".join(it.strip() for tag, i, j, _, _ in codes if tag == "equal" for it in old[i:j])
    if len(same) < MIN_ALIKE * max(len(before.strip()), len(after.strip())) and before != after:
        num_kept = int(before[:1].isspace() and old[:1] == new[:1])
        codes = [("replace", num_kept, len(old), num_kept, len(new))]
    starts = list(accumulate(map(len, old), initial=0))
    for tag, first, last, new_first, new_last in codes:
        if tag != "equal":
            yield starts[first], starts[last], "".join(new[new_first:new_last])
