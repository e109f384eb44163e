"""The code around a hole as weighted words: what it mentions, and what is left of the hole.

Lines above and below count, nearer ones more. A query centred on the hole finds more than one that
ends at it: it was part of the winning entry of the JetBrains context competition of 2025.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from intarsia.workspace.context.chunk import Place
from intarsia.workspace.context.passage import split_lines
from intarsia.workspace.words import identifiers, words_of

NUM_LINES_ABOVE = 24
NUM_LINES_BELOW = 12
HALF_WEIGHT_LINES = 6
"""A word this many lines away weighs half as much as one on the line of the hole."""

MAX_CHARS_EACH_SIDE = 4_000
MAX_RECEIVER_CHARS = 200

_ACCESS = r"(?:\?\.|!\.|\.|->|::)"
_RECEIVER = re.compile(rf"(super\(\)|(?:#?[^\W\d]\w*{_ACCESS})*#?[^\W\d]\w*){_ACCESS}\w*\Z")
_RAISES = re.compile(r"\b(?:raise|throw|throw new|throws|except|catch|rescue)\s*\(?\s*\w*\Z")


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbourhood:
    """Weights of the identifiers and words near a hole; on the hole's own line a word weighs 1."""

    mentions: Mapping[str, float]
    words: Mapping[str, float]
    receiver: str  # the expression left of the dot at the hole, such as "self.user", or ""
    line: int  # of the hole, 0-based
    expects_error: bool = False  # an error is raised, thrown or caught at the hole


def neighbourhood_of(place: Place) -> Neighbourhood:
    """Return the words around a hole."""
    text, offset = place.text, place.offset
    before = split_lines(text[max(0, offset - MAX_CHARS_EACH_SIDE) : offset])
    after = split_lines(text[offset : offset + MAX_CHARS_EACH_SIDE])
    mentions: defaultdict[str, float] = defaultdict(float)
    words: defaultdict[str, float] = defaultdict(float)
    for weight, line in _weighted_lines(before, after):
        for name in set(identifiers(line)):
            mentions[name] += weight
            for word in words_of(name):
                words[word] = max(words[word], weight)
    return Neighbourhood(
        mentions=mentions,
        words=words,
        receiver=receiver_at(text, offset),
        line=text.count("\n", 0, offset),
        expects_error=_RAISES.search(before[-1]) is not None,
    )


def receiver_at(text: str, offset: int) -> str:
    """Return the expression left of the dot at an offset, a half-typed member aside, or ""."""
    line = split_lines(text[max(0, offset - MAX_RECEIVER_CHARS) : offset])[-1]
    found = _RECEIVER.search(line)
    return re.sub(_ACCESS, ".", found[1]) if found else ""


def _weighted_lines(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[float, str]]:
    yield 1.0, f"{before[-1]} {after[0]}"
    for lines in (before[-2 : -NUM_LINES_ABOVE - 2 : -1], after[1 : NUM_LINES_BELOW + 1]):
        for distance, line in enumerate(lines, 1):
            yield HALF_WEIGHT_LINES / (HALF_WEIGHT_LINES + distance), line
