"""Finds the model's tokens again in a text that was cleaned since.

Comes in: the tokens as written and the text as it is now, with lines cut, trimmed, indented anew
or added; goes out: the text in tokens. Works by order: lines are matched by their words, and a
line's own text from both its ends.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, repeat
from operator import itemgetter
from typing import TypeAlias

from intarsia.infill.confidence import ConfidentToken
from intarsia.infill.syntax.difference import replaced_stretch
from intarsia.infill.syntax.lines import leading_blank, with_plain_newlines

_Owners: TypeAlias = list[int | None]
"""For each character the number of the token that it comes from, None where cleaning added it."""

_UNIT = re.compile(r"\r\n|.", re.DOTALL)
_LINE_ENDS = ("\n", "\r\n", "\r")


@dataclass(frozen=True, slots=True)
class _Written:
    """Text as the model wrote it, or a part of it."""

    text: str
    owners: _Owners

    def part(self, start: int, end: int | None = None) -> "_Written":
        return _Written(self.text[start:end], self.owners[start:end])

    def lines(self) -> "list[_Written]":
        """Return the lines without their ends, which one character each stands between."""
        lines, start = [], 0
        for line in self.text.split("\n"):
            lines.append(self.part(start, start + len(line)))
            start += len(line) + 1
        return lines


def align(written: Sequence[ConfidentToken], text: str) -> tuple[ConfidentToken, ...]:
    """Return the text in tokens; joined they are exactly the text. What was added is sure."""
    units = _UNIT.findall(text)
    plain = "".join("\n" if unit in _LINE_ENDS else unit for unit in units)
    owners = _owners(_read(written), plain)
    runs = groupby(zip(owners, units, strict=True), key=itemgetter(0))
    return tuple(
        ConfidentToken(
            "".join(unit for _, unit in run),
            1.0 if owner is None else written[owner].confidence,
        )
        for owner, run in runs
    )


def _read(written: Sequence[ConfidentToken]) -> _Written:
    texts = [with_plain_newlines(token.text) for token in written]
    owners: _Owners = [number for number, text in enumerate(texts) for _ in text]
    return _Written("".join(texts), owners)


def _owners(written: _Written, text: str) -> _Owners:
    """Look at what is not the same at both ends, line by line."""
    start, old_end, new_end = replaced_stretch(written.text, text)
    changed = _owners_of_lines(written.part(start, old_end), text[start:new_end])
    return [*written.owners[:start], *changed, *written.owners[old_end:]]


def _owners_of_lines(written: _Written, text: str) -> _Owners:
    old, new = written.lines(), text.split("\n")
    owners: _Owners = []
    for number, (line, at) in enumerate(zip(new, _partners(old, new), strict=True)):
        if number:
            owners.append(_line_end_before(written, old, at))
        owners += repeat(None, len(line)) if at is None else _owners_of_line(old[at], line)
    return owners


def _line_end_before(written: _Written, old: Sequence[_Written], at: int | None) -> int | None:
    """Return whose the line end is that a line of these stands behind."""
    if not at:
        return None
    return written.owners[sum(len(line.text) + 1 for line in old[:at]) - 1]


def _partners(old: Sequence[_Written], new: Sequence[str]) -> Iterator[int | None]:
    """Return for each new line the old line that it comes from."""
    words = ([line.text.strip() for line in old], [line.strip() for line in new])
    matcher = SequenceMatcher(None, *words, autojunk=False)
    for _, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        num_new = new_end - new_start
        partners = list(range(old_start, old_end))[:num_new]
        yield from partners
        yield from repeat(None, num_new - len(partners))


def _owners_of_line(written: _Written, line: str) -> _Owners:
    """Indentation comes from indentation, however much of either there is."""
    old_blank, blank = leading_blank(written.text), leading_blank(line)
    first = written.owners[0] if old_blank else None
    words, rest = written.part(len(old_blank)), line[len(blank) :]
    start, old_end, new_end = replaced_stretch(words.text, rest)
    return [
        *(written.owners[: len(blank)] if blank == old_blank else repeat(first, len(blank))),
        *words.owners[:start],
        *repeat(None, new_end - start),
        *words.owners[old_end:],
    ]
