"""The keys of a typist who retypes lines of real files and corrects a slip now and then.

The same random generator gives the same keys. Knows nothing of the systems that are asked.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from intarsia_research.benchmark.editor.sources import CutLine, cut_lines

KEYS_PER_SECOND = 5.0

_LINES_A_PLACE = 2
_SLIP_CHANCE = 0.03  # of mistyping a key and deleting it
_SPREAD = 0.35  # standard deviation of the logarithm of a pause
_PAUSE_AT_LINE_END = 3.0  # factor
_SEED = 7


@dataclass(frozen=True, slots=True)
class Key:
    """``text`` is inserted at the cursor; empty: the character before it is deleted."""

    text: str
    pause_s: float  # until the next key


@dataclass(frozen=True, kw_only=True, slots=True)
class TypingPlace:
    """A file without the lines that are typed between ``before`` and ``after``."""

    file: str
    before: str
    after: str
    keys: tuple[Key, ...]


def typing_places(count: int, *, pace: float = 1.0) -> list[TypingPlace]:
    """Return ``count`` places, the same each time. ``pace`` 2 types twice as fast."""
    chosen = random.Random(_SEED)
    return [
        TypingPlace(
            file=line.file,
            before=line.text[: line.start],
            after=line.text[line.start + len(typed_lines(line)) :],
            keys=tuple(replace(key, pause_s=key.pause_s / pace) for key in keys_of(line, chosen)),
        )
        for line in cut_lines(count)
    ]


def typed_lines(line: CutLine) -> str:
    """Return the typed text: from the line's first character through the next line."""
    rest = line.text[line.start :].split("\n", _LINES_A_PLACE)
    return "\n".join(rest[:_LINES_A_PLACE])


def keys_of(line: CutLine, chosen: random.Random) -> Iterator[Key]:
    """Yield the keys that type a line and the next one."""
    return keys_of_text(typed_lines(line), chosen)


def keys_of_text(text: str, chosen: random.Random) -> Iterator[Key]:
    """Yield the keys. A line end includes the next line's indentation, as in an editor."""
    at = 0
    while at < len(text):
        sign = text[at]
        if sign == "\n":
            stripped = text[at:].lstrip(" \t\n")
            sign = text[at : len(text) - len(stripped)]
        elif sign.isalpha() and chosen.random() < _SLIP_CHANCE:
            yield Key(chosen.choice("etaoinshrdlu"), _pause(chosen))
            yield Key("", _pause(chosen))
        at += len(sign)
        slowly = _PAUSE_AT_LINE_END if text[at : at + 1] == "\n" else 1.0
        yield Key(sign, slowly * _pause(chosen))


def _pause(chosen: random.Random) -> float:
    return chosen.lognormvariate(0.0, _SPREAD) / KEYS_PER_SECOND
