"""Lines of another file as the model reads them: dedented, cut to a budget, and not known already.

What the file with the hole says already is worth nothing in another place, and a model that reads
it twice is drawn to repeat it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from intarsia.workspace.words import words_in

MIN_TELLING_CHARS = 12
"""Shorter lines, such as ``return None``, are in every file."""

MAX_KNOWN_SHARE = 0.5
"""A passage with more lines than this that the file has already is left out."""

MIN_PASSAGE_CHARS = 24
MAX_LINE_CHARS = 200

_AFTER_HEADERS = ("", ":", " {", ";", ",", " =>", ": ...")
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownLines:
    """The telling lines that the model sees already, without their indentation."""

    lines: frozenset[str]

    def has(self, line: str) -> bool:
        """Whether the line is telling, and known."""
        return line.strip() in self.lines

    def has_header(self, signature: str) -> bool:
        """Whether a signature is known as it is written before a body, or without one."""
        return any(signature + end in self.lines for end in _AFTER_HEADERS)

    def has_most_of(self, lines: Sequence[str]) -> bool:
        """Whether most telling lines are known."""
        telling = [line for line in map(str.strip, lines) if is_telling(line)]
        return sum(line in self.lines for line in telling) > MAX_KNOWN_SHARE * len(telling)

    def with_text(self, text: str) -> "KnownLines":
        """Return these and the lines of one more text."""
        return KnownLines(lines=self.lines | known_lines(text).lines)


def known_lines(text: str) -> KnownLines:
    """Return the telling lines of a text."""
    return KnownLines(lines=frozenset(filter(is_telling, map(str.strip, split_lines(text)))))


def is_telling(line: str) -> bool:
    """Whether a line without indentation is long enough to be known again."""
    return len(line) >= MIN_TELLING_CHARS and any(map(str.isalnum, line))


def split_lines(text: str) -> list[str]:
    """Return the lines of a text without their ends."""
    return _LINE_END.split(text)


def written_passage(lines: Sequence[str], known: KnownLines, max_chars: int) -> str | None:
    """Return the lines as one dedented text of at most ``max_chars`` characters.

    Blank and known lines at both ends are left out. None if little is left, or most is known.
    """
    first, last = 0, len(lines)
    while first < last and _is_worthless(lines[first], known):
        first += 1
    while last > first and _is_worthless(lines[last - 1], known):
        last -= 1
    kept = _within(dedented(lines[first:last]), max_chars)
    text = "\n".join(kept).rstrip()
    return None if len(text) < MIN_PASSAGE_CHARS or known.has_most_of(kept) else text


def best_lines(
    lines: Sequence[str], weights: Mapping[str, float], max_chars: int
) -> tuple[int, int]:
    """Return the first and last + 1 of the lines that fit and share most with the weights.

    A word counts once, with its weight. Of equally good places the first is taken.
    """
    words = [[word for word in words_in(line) if word in weights] for line in lines]
    best, best_score, first, num_chars = (0, 0), -1.0, 0, 0
    counts: dict[str, int] = {}
    for last, line in enumerate(lines):
        num_chars += min(len(line), MAX_LINE_CHARS) + 1
        for word in words[last]:
            counts[word] = counts.get(word, 0) + 1
        while num_chars > max_chars and first < last:
            num_chars -= min(len(lines[first]), MAX_LINE_CHARS) + 1
            for word in words[first]:
                counts[word] -= 1
            first += 1
        score = sum(weights[word] for word, count in counts.items() if count)
        if score > best_score:
            best, best_score = (first, last + 1), score
    return best


def dedented(lines: Sequence[str]) -> list[str]:
    """Remove the indentation that all lines share, and blanks at the ends of lines."""
    indents = [line[: len(line) - len(line.lstrip())] for line in lines if line.strip()]
    shared = min(indents, key=len, default="")
    while any(not indent.startswith(shared) for indent in indents):
        shared = shared[:-1]
    return [line.rstrip()[len(shared) :] if line.strip() else "" for line in lines]


def _is_worthless(line: str, known: KnownLines) -> bool:
    return not line.strip() or known.has(line)


def _within(lines: Sequence[str], max_chars: int) -> list[str]:
    kept: list[str] = []
    for line in lines:
        max_chars -= len(line) + 1
        if max_chars < 0 or len(line) > MAX_LINE_CHARS:
            break
        kept.append(line)
    return kept
