"""Lines in which an edit can be repeated as it is: they have the same tokens beside the change."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from intarsia.engine.ipc.messages import EditExample
from intarsia.infill.next_edit.settled_edit import plain_lines

MIN_TOKENS = 4
"""The fewest tokens of whole lines that are found again: fewer are found everywhere."""

MAX_APART = 24
"""Tokens between two pieces of a change that may be others than in the edit."""

_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Repeat:
    """``text``, whole lines, takes the place of the lines from ``first`` to ``end``."""

    first: int
    end: int
    text: str
    num_shared: int  # tokens that the place has in common with the edited lines


def repeats(lines: Sequence[str], example: EditExample) -> Sequence[Repeat]:
    """Return the lines in which the edit can be repeated, most in common with it first."""
    old, new = plain_lines(example.before), plain_lines(example.after)
    found = [*_whole_repeats(lines, old, new)]
    whole = {it.first for it in found}
    pairs = zip(old, new, strict=True) if len(old) == len(new) else ()
    changes = [it for one, other in pairs if one != other for it in _changes(one, other)]
    for number, line in enumerate(lines):
        fitting = (it.repeated(line) for it in changes if it.may_be_in(line))
        most, repeated = max(fitting, default=(0, line))
        if number not in whole and repeated != line:
            found.append(Repeat(first=number, end=number + 1, text=repeated, num_shared=most))
    return sorted(found, key=lambda it: -it.num_shared)


def _num_tokens(lines: Sequence[str]) -> int:
    return sum(len(_TOKEN.findall(line)) for line in lines)


def _whole_repeats(
    lines: Sequence[str], old: Sequence[str], new: Sequence[str]
) -> Iterator[Repeat]:
    """Yield where all of the edit's old lines are found again, in an indentation of their own."""
    stripped, wanted = [line.strip() for line in lines], [line.strip() for line in old]
    num_tokens = _num_tokens(old)
    if num_tokens < MIN_TOKENS:
        return
    for first in range(len(lines) - len(old) + 1):
        end = first + len(old)
        if stripped[first:end] == wanted:
            blanks, own = _blanks(old[0]), _blanks(lines[first])
            text = "".join(own + it.removeprefix(blanks) if it.strip() else it for it in new)
            yield Repeat(first=first, end=end, text=text, num_shared=num_tokens)


def _blanks(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


class _Tokens:
    """A line's tokens. The blanks before token i begin at ``ends[i]``; it begins at ``starts[i]``.

    Both have one item more, for the line's end.
    """

    def __init__(self, line: str) -> None:
        found = list(_TOKEN.finditer(line))
        self.names = [it[0] for it in found]
        self.starts = [*(it.start() for it in found), len(line.rstrip())]
        self.ends = [len(_blanks(line)), *(it.end() for it in found)]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Change:
    """The replacements of an edit in a line: pieces of tokens, and the new text of each.

    What is between two pieces may be any text. ``left`` and ``right`` are the tokens beside them
    that stayed, the nearest first.
    """

    pieces: Sequence[Sequence[str]]
    texts: Sequence[str]
    left: Sequence[str]
    right: Sequence[str]

    def may_be_in(self, line: str) -> bool:
        """Whether a line has what the edit replaced and the tokens beside it, in any order."""
        beside = (*self.left[:1], *self.right[:1])
        return all(token in line for piece in (*self.pieces, beside) for token in piece)

    def repeated(self, line: str) -> tuple[int, str]:
        """Return how many tokens beside the change a line has too, and the line with the change."""
        tokens, most = _Tokens(line), 0
        for first in range(len(tokens.names), -1, -1):
            places = self._places(tokens.names, first)
            num_shared = self._num_shared(tokens.names, places)
            if num_shared:
                for (start, end), text in zip(places[::-1], self.texts[::-1], strict=True):
                    line = line[: tokens.ends[start]] + text + line[tokens.starts[end] :]
            most = max(most, num_shared)
        return most, line

    def _places(self, names: Sequence[str], first: int) -> Sequence[tuple[int, int]]:
        """Return where the pieces are if the first one is at a token, none if they are not."""
        places: list[tuple[int, int]] = []
        tried = range(first, first + 1)
        for piece in self.pieces:
            start = next((i for i in tried if names[i : i + len(piece)] == piece), None)
            if start is None:
                return ()
            end = start + len(piece)
            places.append((start, end))
            tried = range(end + 1, min(len(names), end + MAX_APART))
        return places

    def _num_shared(self, names: Sequence[str], places: Sequence[tuple[int, int]]) -> int:
        """Return how many tokens beside the pieces are the same, 0 if none of one side is."""
        if not places:
            return 0
        before, after = names[: places[0][0]][::-1], names[places[-1][1] :]
        left, right = _num_equal(before, self.left), _num_equal(after, self.right)
        is_left = left > 0 or not (before or self.left)
        is_right = right > 0 or not (after or self.right)
        is_enough = left + right + sum(map(len, self.pieces)) > 1
        return left + right if is_left and is_right and is_enough else 0


def _changes(old: str, new: str) -> Iterator[_Change]:
    """Yield the change of a line in one piece, and in several ones where something stayed."""
    before, after = _Tokens(old), _Tokens(new)
    left = _num_equal(before.names, after.names)
    right = _num_equal(before.names[left:][::-1], after.names[left:][::-1])
    last, new_last = len(before.names) - right, len(after.names) - right
    stayed = SequenceMatcher(
        None, before.names[left:last], after.names[left:new_last], autojunk=False
    ).get_matching_blocks()
    inner = [(left + i, left + j, num) for i, j, num in stayed if num and left + i + num < last]
    for kept in ((), inner) if inner and inner[0][0] > left else ((),):
        starts = [(left, left), *((i + num, j + num) for i, j, num in kept)]
        ends = [*((i, j) for i, j, _ in kept), (last, new_last)]
        sides = list(zip(starts, ends, strict=True))
        yield _Change(
            pieces=[before.names[i:j] for (i, _), (j, _) in sides],
            texts=[new[after.ends[i] : after.starts[j]] for (_, i), (_, j) in sides],
            left=before.names[:left][::-1],
            right=before.names[last:],
        )


def _num_equal(first: Sequence[str], second: Sequence[str]) -> int:
    """Return how many items both begin with."""
    most = min(len(first), len(second))
    return next((i for i in range(most) if first[i] != second[i]), most)
