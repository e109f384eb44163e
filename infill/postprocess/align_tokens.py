"""Splits a cleaned text into the model's tokens again, so that each part has its confidence.

Cleaning cuts, trims, re-indents and adds lines. Lines are matched by their text without blanks, and
the text of a changed line from both of its ends.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, repeat
from operator import itemgetter
from typing import TypeAlias

from intarsia.infill.suggestion import ConfidentToken
from intarsia.infill.syntax.lines import leading_blank, replaced_range, with_plain_newlines

_Owners: TypeAlias = list[int | None]
"""For each character the index of its token; None where cleaning added the character."""

MAX_LINES = 100
"""Later lines are matched with none: of equal lines, matching takes cubic time."""

_UNIT = re.compile(r"\r\n|.", re.DOTALL)
_LINE_ENDS = ("\n", "\r\n", "\r")


@dataclass(frozen=True, slots=True)
class _Written:
    """Text that the model wrote, or a part of that text."""

    text: str
    owners: _Owners

    def part(self, start: int, end: int | None = None) -> "_Written":
        return _Written(self.text[start:end], self.owners[start:end])

    def lines(self) -> "list[_Written]":
        """Return the lines without their line ends, which are one character each."""
        lines, start = [], 0
        for line in self.text.split("\n"):
            lines.append(self.part(start, start + len(line)))
            start += len(line) + 1
        return lines


def align(written: Sequence[ConfidentToken], text: str) -> tuple[ConfidentToken, ...]:
    """Return the text in tokens, which joined are exactly the text.

    Characters that cleaning added have a confidence of 1.
    """
    units = _UNIT.findall(text)
    plain = "".join("\n" if unit in _LINE_ENDS else unit for unit in units)
    owners = _owners(_read(written), plain)
    runs = groupby(zip(owners, units, strict=True), key=itemgetter(0))
    return tuple(
        ConfidentToken(
            "".join(unit for _, unit in run), 1.0 if owner is None else written[owner].confidence
        )
        for owner, run in runs
    )


def _read(written: Sequence[ConfidentToken]) -> _Written:
    texts = [with_plain_newlines(token.text) for token in written]
    owners: _Owners = [number for number, text in enumerate(texts) for _ in text]
    return _Written("".join(texts), owners)


def _owners(written: _Written, text: str) -> _Owners:
    """Match what both texts begin and end with as it is, and the text between them by lines."""
    start, old_end, new_end = replaced_range(written.text, text)
    changed = _owners_of_lines(written.part(start, old_end), text[start:new_end])
    return [*written.owners[:start], *changed, *written.owners[old_end:]]


def _owners_of_lines(written: _Written, text: str) -> _Owners:
    old, new = written.lines(), text.split("\n")
    owners: _Owners = []
    for number, (line, partner) in enumerate(zip(new, _partners(old, new), strict=True)):
        if number:
            owners.append(_line_end_before(written, old, partner))
        if partner is None:
            owners += repeat(None, len(line))
        else:
            owners += _owners_of_line(old[partner], line)
    return owners


def _line_end_before(written: _Written, old: Sequence[_Written], index: int | None) -> int | None:
    """Return the owner of the line end before an old line."""
    if not index:
        return None
    return written.owners[sum(len(line.text) + 1 for line in old[:index]) - 1]


def _partners(old: Sequence[_Written], new: Sequence[str]) -> Iterator[int | None]:
    """Yield for each new line the index of the old line that it comes from, or None."""
    stripped = (
        [line.text.strip() for line in old[:MAX_LINES]],
        [line.strip() for line in new[:MAX_LINES]],
    )
    matcher = SequenceMatcher(None, *stripped, autojunk=False)
    for _, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        num_new = new_end - new_start
        partners = list(range(old_start, old_end))[:num_new]
        yield from partners
        yield from repeat(None, num_new - len(partners))
    yield from repeat(None, len(new) - MAX_LINES)


def _owners_of_line(written: _Written, line: str) -> _Owners:
    """Match a line with a changed one. New indentation belongs to the token of the old one."""
    old_blank, blank = leading_blank(written.text), leading_blank(line)
    first = written.owners[0] if old_blank else None
    old_code, code = written.part(len(old_blank)), line[len(blank) :]
    start, old_end, new_end = replaced_range(old_code.text, code)
    return [
        *(written.owners[: len(blank)] if blank == old_blank else repeat(first, len(blank))),
        *old_code.owners[:start],
        *repeat(None, new_end - start),
        *old_code.owners[old_end:],
    ]
